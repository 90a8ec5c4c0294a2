/** Receivers of the settings file and of the API, by id and title. */
import type { ApiServices } from '../../services.js';

export function knownReceivers({
  config,
  definitions,
}: Pick<ApiServices, 'config' | 'definitions'>): readonly { readonly id: string; readonly title: string }[] {
  return [
    ...config.receivers.map(({ name }) => ({ id: name, title: name })),
    ...definitions.receivers().map(({ id, title }) => ({ id, title })),
  ];
}
