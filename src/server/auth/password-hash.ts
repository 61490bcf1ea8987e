import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/**
 * Parameters of scrypt. With these parameters, a password hash takes about 0.1 s and 16 MiB of memory. These
 * scrypt parameters are the second choice that OWASP recommends. The first choice that OWASP recommends needs
 * 128 MiB of memory.
 */
const SCRYPT_PARAMETERS = { N: 2 ** 14, r: 8, p: 5 };
const DIGEST_BYTES = 32;
/** Returns a password hash for the `basic` scheme, in the format `scrypt$N$r$p$salt$digest`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const { N, r, p } = SCRYPT_PARAMETERS;
  const digest = await deriveScryptKey(password, salt, SCRYPT_PARAMETERS);
  return ["scrypt", N, r, p, salt.toString("base64url"), digest.toString("base64url")].join("$");
}

/**
 * A parsed password hash. The constructor throws an error if the text is not a password hash from
 * `hashPassword`.
 */
export class PasswordHash {
  readonly #cost: typeof SCRYPT_PARAMETERS;
  readonly #salt: Buffer;
  readonly #digest: Buffer;

  constructor(text: string) {
    const [kind, N, r, p, salt = "", digest = ""] = text.split("$");
    this.#cost = { N: Number(N), r: Number(r), p: Number(p) };
    this.#salt = Buffer.from(salt, "base64url");
    this.#digest = Buffer.from(digest, "base64url");
    const { r: width, p: parallelism } = this.#cost;
    const isBounded = this.#cost.N <= 2 ** 20 && width <= 32 && parallelism <= 32;
    if (kind !== "scrypt" || !isBounded || this.#salt.length < 8 || this.#digest.length !== DIGEST_BYTES) {
      throw new Error("The password hash is not valid; generate it with hashPassword(…).");
    }
  }

  async matches(password: string): Promise<boolean> {
    return timingSafeEqual(await deriveScryptKey(password, this.#salt, this.#cost), this.#digest);
  }
}

function deriveScryptKey(password: string, salt: Buffer, cost: typeof SCRYPT_PARAMETERS): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: 256 * cost.N * cost.r };
    scrypt(password.normalize("NFC"), salt, DIGEST_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
