import type { NodeAPI } from 'node-red';
import type { Account } from '../../src/index';
import { clock } from './time';
import { translate } from './i18n';

/** The node statuses warn half an hour before a pasted token expires. A token that renews itself needs no warning. */
const warnBefore = 30 * 60_000;

/** `expires in 12 min`, or null while there is time. */
export function expiryNote(RED: NodeAPI, account: Account): string | null {
  const { kind, expiresAt } = account.token();
  if (kind !== 'pasted' || expiresAt === null) return null;
  const left = Date.parse(expiresAt) - clock().now();
  return left > 0 && left <= warnBefore
    ? translate(RED, 'status.expires', { minutes: Math.ceil(left / 60_000) })
    : null;
}
