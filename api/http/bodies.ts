/** Bodies beside JSON, for the routes that take them; elsewhere they are refused with 415. */
import type { ApiServer } from './contract.js';

const mostFormBytes = 64 * 1024;

/** Routes whose body may be plain text. */
export function takingTexts(app: ApiServer, register: (scope: ApiServer) => void): void {
  void app.register(async (scope) => {
    scope.addContentTypeParser('text/plain', { parseAs: 'string' }, (_, body, done) => done(null, body));
    register(scope);
  });
}

/** Routes whose body may be a form of one value for each name. */
export function takingForms(app: ApiServer, register: (scope: ApiServer) => void): void {
  void app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: mostFormBytes },
      (_, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
    );
    register(scope);
  });
}
