import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programOf } from './parts';

/** Files of a certificate and its key, in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/**
 * The folder of the authority that the processes of the tests trust (`NODE_EXTRA_CA_CERTS`);
 * `npm run test:external` makes it.
 */
function authorityFolder(): string {
  const folder = process.env['WORLD_AUTHORITY'];
  if (folder === undefined) throw new Error('These tests need the environment of npm run test:external.');
  return folder;
}

const openssl = async (...args: readonly string[][]): Promise<unknown> =>
  promisify(execFile)(await programOf('openssl'), args.flat());

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Makes an authority, `authority.pem` and `authority.key`. */
export async function makeAuthority(folder: string): Promise<Certificate> {
  const authority = { cert: join(folder, 'authority.pem'), key: join(folder, 'authority.key') };
  await mkdir(folder, { recursive: true });
  await openssl(
    ['req', '-x509', ...newKey, '-keyout', authority.key, '-out', authority.cert],
    ['-days', '2', '-subj', '/CN=Authority of the tests', '-addext', 'basicConstraints=critical,CA:TRUE'],
  );
  return authority;
}

/**
 * A certificate for these names, signed by the authority in a folder (default: the one that the
 * processes of the tests trust).
 * @param folder gets the files, named after the first name
 * @param days how long it is valid; with -1 it has expired
 */
export async function issueCertificate(
  folder: string,
  names: readonly [string, ...string[]],
  {
    authority = authorityFolder(),
    days = 1,
    usage = 'serverAuth',
  }: { authority?: string; days?: number; usage?: 'serverAuth' | 'clientAuth' } = {},
): Promise<Certificate> {
  const [first] = names;
  const issued = { cert: join(folder, `${first}.pem`), key: join(folder, `${first}.key`) };
  const request = join(folder, `${first}.csr`);
  await openssl(
    ['req', '-new', ...newKey, '-keyout', issued.key, '-out', request, '-subj', `/CN=${first}`],
    ['-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`],
    ['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', `extendedKeyUsage=${usage}`],
  );
  await openssl(
    ['x509', '-req', '-in', request, '-out', issued.cert, '-days', String(days), '-copy_extensions', 'copy'],
    ['-CA', join(authority, 'authority.pem'), '-CAkey', join(authority, 'authority.key'), '-CAcreateserial'],
  );
  return issued;
}
