/** What was sent to each receiver, what it appended, what of it is stored, and which documents nobody here sent. */
import { until, type Program } from '../program.js';
import { scrape, type Samples } from './figures.js';

interface ReceiverAccount {
  readonly sent: number;
  readonly appended: number;
}

export interface Account {
  readonly tcp: ReceiverAccount;
  readonly http: ReceiverAccount;
  readonly udp: ReceiverAccount;
  readonly stored: number;
  /** Documents, five at the most, that neither the load nor the probe sent. */
  readonly strangers: readonly string[];
}

/** Stored documents, dead letters left out. */
const documents = (samples: Samples): number =>
  samples('sluice_documents_stored_total') -
  samples('sluice_documents_stored_total', { index_set: 'sluice_dead_letters' });

/** Waits until all that was sent after `earlier` is stored, or half a minute has gone. */
export async function settleAccount(
  program: Program,
  admin: number,
  earlier: Samples,
  sent: { readonly tcp: number; readonly http: number },
): Promise<Account> {
  const total = sent.tcp + sent.http;
  const now = await until(
    async () => {
      const look = await scrape(admin);
      return documents(look) - documents(earlier) >= total ? look : undefined;
    },
    30_000,
    () => 'not all that was sent is stored',
  ).catch(() => scrape(admin));
  const appended = (receiver: string): number =>
    now('sluice_messages_appended_total', { receiver }) - earlier('sluice_messages_appended_total', { receiver });
  const account = {
    tcp: { sent: sent.tcp, appended: appended('gelf-tcp') },
    http: { sent: sent.http, appended: appended('gelf-http') },
    udp: { sent: 0, appended: appended('gelf-udp') },
    stored: documents(now) - documents(earlier),
    strangers: [],
  };
  return accountProblems(account).length === 0 ? account : { ...account, strangers: await strangers(program) };
}

async function strangers(program: Program): Promise<string[]> {
  await program.control.request('POST', '/refresh', {});
  const found = (await program.control.request('POST', '/search', {
    query: 'NOT _exists_:load_run AND NOT source:probe',
    limit: 5,
  })) as { readonly hits: readonly unknown[] };
  return found.hits.map((hit) => JSON.stringify(hit).slice(0, 500));
}

export function accountProblems(account: Account): string[] {
  const found = (['tcp', 'http', 'udp'] as const)
    .filter((by) => account[by].sent !== account[by].appended)
    .map((by) => `${by}: sent ${account[by].sent}, appended ${account[by].appended}`);
  const appended = account.tcp.appended + account.http.appended + account.udp.appended;
  if (account.stored !== appended) found.push(`appended ${appended}, stored ${account.stored}`);
  return [...found, ...account.strangers.map((document) => `nobody here sent ${document}`)];
}

export function accountText(account: Account): string {
  return `${(['tcp', 'http', 'udp'] as const).map((by) => `${by}: sent ${account[by].sent}, appended ${account[by].appended}`).join('; ')}; stored ${account.stored}`;
}
