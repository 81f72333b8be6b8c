import type { Refusal } from './runtime-request';
import { sharedText } from './texts';

/**
 * Why something failed, in the language of the dialog.
 * @param about what was asked, where its failure has words of its own: the sign-in service is not that of the vehicles
 */
export const errorText = ({ code, message }: Refusal, about = ''): string =>
  sharedText(`dialog.check.${about}.${code}`, {
    message,
    defaultValue: sharedText(`dialog.check.${code}`, { message, defaultValue: message }),
  });
