import type { Refusal } from './ask';
import { shared } from './words';

/**
 * Why something failed, in the language of the dialog.
 * @param about what was asked, where its failure has words of its own: the sign-in service is not that of the vehicles
 */
export const complaint = ({ code, message }: Refusal, about = ''): string =>
  shared(`dialog.check.${about}.${code}`, {
    message,
    defaultValue: shared(`dialog.check.${code}`, { message, defaultValue: message }),
  });
