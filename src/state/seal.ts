import { createCipheriv, createDecipheriv, createHmac, randomBytes, scrypt } from 'node:crypto';
import * as z from 'zod/mini';
import { getOrMake } from '../util/get-or-make';

/** The content of a file: AES-256-GCM, all parts in base64. */
export const sealedSchema = z.lazy(() =>
  z.object({
    /** Identifies the secret, so that a foreign file is not mistaken for a damaged one. */
    keyId: z.string(),
    salt: z.string(),
    nonce: z.string(),
    tag: z.string(),
    data: z.string(),
  }),
);
type Sealed = z.infer<typeof sealedSchema>;

interface Key {
  id: string;
  salt: string;
  bytes: Buffer;
}

/**
 * Seals text with a key that scrypt derives from a secret, because a secret that a user has chosen
 * may be weak. One derivation serves all texts of a process.
 */
export class Seal {
  readonly #secret: string;
  readonly #salt: string | null;
  readonly #keys = new Map<string, Promise<Key>>();

  /** @param salt in base64. Default: the one that it has seen first, or a random one */
  constructor(secret: string, salt: string | null = null) {
    this.#secret = secret;
    this.#salt = salt;
  }

  /** @param context the place of the text: a sealed text is opened in the same place only */
  async seal(text: string, context: string): Promise<Sealed> {
    const [anySalt = randomBytes(16).toString('base64')] = this.#keys.keys();
    const key = await this.#key(this.#salt ?? anySalt);
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(Buffer.from(context));
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return {
      keyId: key.id,
      salt: key.salt,
      nonce: nonce.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
      data: data.toString('base64'),
    };
  }

  /**
   * A key for the hashes of names, made from the same secret and salt, so that a name cannot be
   * guessed without the secret.
   */
  async nameKey(): Promise<string> {
    const { bytes } = await this.#key(this.#salt ?? '');
    return createHmac('sha256', bytes).update('names').digest('hex');
  }

  async open(sealed: Sealed, context: string): Promise<{ text: string } | { fault: 'foreign' | 'damaged' }> {
    const key = await this.#key(sealed.salt);
    if (key.id !== sealed.keyId) {
      // The salt of another secret is not reused for sealing. The key of the own salt is kept, so
      // that a forged text does not cost a derivation.
      if (sealed.salt !== this.#salt) this.#keys.delete(sealed.salt);
      return { fault: 'foreign' };
    }
    try {
      const opener = createDecipheriv('aes-256-gcm', key.bytes, Buffer.from(sealed.nonce, 'base64'), {
        authTagLength: 16,
      });
      opener.setAAD(Buffer.from(context)).setAuthTag(Buffer.from(sealed.tag, 'base64'));
      return {
        text: Buffer.concat([opener.update(Buffer.from(sealed.data, 'base64')), opener.final()]).toString('utf8'),
      };
    } catch {
      return { fault: 'damaged' };
    }
  }

  #key(salt: string): Promise<Key> {
    return getOrMake(this.#keys, salt, () => derive(this.#secret, salt));
  }
}

const derive = (secret: string, salt: string): Promise<Key> =>
  new Promise((resolve, reject) => {
    scrypt(secret, Buffer.from(salt, 'base64'), 40, { N: 2 ** 14 }, (error, bytes) => {
      if (error !== null) reject(error);
      else resolve({ id: bytes.subarray(32).toString('base64'), salt, bytes: bytes.subarray(0, 32) });
    });
  });
