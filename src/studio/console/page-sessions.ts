import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { isSameSecret } from "../../base/data-structures/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { CONSOLE_KEY_HEADER } from "../console-api/index.ts";

/** Maximum age of a session. */
const MAX_AGE_SECONDS = 30 * 24 * 60 * 60;
/** Browsers ignore larger cookies. */
const MAX_COOKIE_LENGTH = 4_000;
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A session of a page. */
export interface PageSession {
  /** Headers with the user's credentials for the server. Without credentials, the user has used the launch token. */
  readonly credentials: Readonly<Record<string, string>> | undefined;
}

/** A new session: the cookie, and the key that the page sends in addition. */
export interface CreatedPageSession {
  /** Value of the header `set-cookie`. */
  readonly cookie: string;
  readonly key: string;
}

/**
 * The sessions of pages. A session consists of two halves: an HttpOnly cookie, which no script can read, and a key in the
 * page's storage, which belongs to one origin with its port. Browsers send a cookie to all ports of a host, so that the
 * cookie alone is no proof. Sessions are stateless: the cookie contains the credentials, encrypted with the secret of the
 * server, and the key is a signature of the cookie.
 */
export class PageSessions {
  readonly #cipherKey: Buffer;
  readonly #signatureKey: Buffer;
  readonly #id: string;

  constructor(secret: string) {
    this.#cipherKey = deriveKey(secret, "cookie");
    this.#signatureKey = deriveKey(secret, "key");
    this.#id = deriveKey(secret, "id").toString("hex").slice(0, 8);
  }

  /** Creates a session for the page at a URL. */
  create(consoleUrl: URL, { credentials }: PageSession, nowMs: number): CreatedPageSession {
    const content = JSON.stringify({ credentials, expiresMs: nowMs + MAX_AGE_SECONDS * 1_000 });
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#cipherKey, iv);
    const encrypted = Buffer.concat([cipher.update(content, "utf8"), cipher.final()]);
    const value = Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString("base64url");
    if (value.length > MAX_COOKIE_LENGTH)
      throw A2AError.invalidParams([
        {
          field: "headers",
          description: "are too long for a cookie; use credentials of at most 2,800 characters",
        },
      ]);
    return { cookie: this.#formatCookie(consoleUrl, value, MAX_AGE_SECONDS), key: this.#sign(value) };
  }

  /** Returns the value of the header `set-cookie` that removes the cookie. */
  formatRemoval(consoleUrl: URL): string {
    return this.#formatCookie(consoleUrl, "", 0);
  }

  /** Returns the session of a request, or `undefined` if one half is missing, wrong, or too old. */
  find(consoleUrl: URL, { headers }: Request, nowMs: number): PageSession | undefined {
    const prefix = `${this.#formatName(consoleUrl)}=`;
    const cookie = headers
      .get("cookie")
      ?.split("; ")
      .find((one) => one.startsWith(prefix));
    const value = cookie?.slice(prefix.length);
    if (!value || !isSameSecret(headers.get(CONSOLE_KEY_HEADER) ?? "", this.#sign(value))) return undefined;
    const bytes = Buffer.from(value, "base64url");
    const decipher = createDecipheriv(CIPHER, this.#cipherKey, bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    // The signature is valid, so that this server has encrypted the content.
    const content =
      decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    const { credentials, expiresMs } = JSON.parse(content) as PageSession & { readonly expiresMs: number };
    return expiresMs > nowMs ? { credentials } : undefined;
  }

  #sign(value: string): string {
    return createHmac("sha256", this.#signatureKey).update(value).digest("base64url");
  }

  /** The name differs for each server, because the servers of a host share one cookie jar. */
  #formatName({ port, protocol }: URL): string {
    return `colloquy-console-${port || (protocol === "https:" ? "443" : "80")}-${this.#id}`;
  }

  #formatCookie(consoleUrl: URL, value: string, maxAgeSeconds: number): string {
    const { pathname, protocol } = consoleUrl;
    const secure = protocol === "https:" ? "; Secure" : "";
    return `${this.#formatName(consoleUrl)}=${value}; Path=${pathname}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
  }
}

function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `colloquy console ${purpose}`, 32));
}
