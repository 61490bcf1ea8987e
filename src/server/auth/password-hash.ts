import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { A2AError } from "../../protocol/index.ts";

/** About 0.1 s and 16 MiB for each guess (OWASP's second choice; the first wants 128 MiB of a server). */
const SCRYPT_COST = { N: 2 ** 14, r: 8, p: 5 };
const DIGEST_BYTES = 32;
/** Strangers choose how many passwords are checked; more than these wait for nobody. */
const MAX_CONCURRENT_HASHES = 32;
let activeHashes = 0;

/** A password as a server keeps it: `scrypt$N$r$p$salt$digest`, to be given to `basic`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const { N, r, p } = SCRYPT_COST;
  const digest = await deriveScryptKey(password, salt, SCRYPT_COST);
  return ["scrypt", N, r, p, salt.toString("base64url"), digest.toString("base64url")].join("$");
}

/** A kept password, taken apart; throws at once for what was not made by `hashPassword`. */
export class PasswordHash {
  readonly #cost: typeof SCRYPT_COST;
  readonly #salt: Buffer;
  readonly #digest: Buffer;

  constructor(text: string) {
    const [kind, N, r, p, salt = "", digest = ""] = text.split("$");
    this.#cost = { N: Number(N), r: Number(r), p: Number(p) };
    this.#salt = Buffer.from(salt, "base64url");
    this.#digest = Buffer.from(digest, "base64url");
    const { r: width, p: lanes } = this.#cost;
    const isBounded = this.#cost.N <= 2 ** 20 && width <= 32 && lanes <= 32;
    if (kind !== "scrypt" || !isBounded || this.#salt.length < 8 || this.#digest.length !== DIGEST_BYTES) {
      throw new Error("A password must be kept as hashPassword(…) has made it, not as it is.");
    }
  }

  async matches(password: string): Promise<boolean> {
    return timingSafeEqual(await deriveScryptKey(password, this.#salt, this.#cost), this.#digest);
  }
}

async function deriveScryptKey(password: string, salt: Buffer, cost: typeof SCRYPT_COST): Promise<Buffer> {
  if (activeHashes >= MAX_CONCURRENT_HASHES) {
    throw new A2AError("RESOURCE_EXHAUSTED", "Too many passwords are being checked; try again soon.", {
      retryAfter: 1,
    });
  }
  activeHashes++;
  try {
    return await new Promise((resolve, reject) => {
      const options = { ...cost, maxmem: 256 * cost.N * cost.r };
      scrypt(password.normalize("NFC"), salt, DIGEST_BYTES, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    activeHashes--;
  }
}
