import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { QueuedTurnData } from "../engine/index.ts";
import { A2AError, isObject, type TaskPushNotificationConfig } from "../protocol/index.ts";

/** Keys for the secrets of push configurations, or a function that returns the keys. */
export type PushSecretKeysOption = readonly string[] | (() => readonly string[] | Promise<readonly string[]>);

/** The task that a push configuration belongs to. */
export interface PushConfigOwnerTask {
  readonly tenant: string;
  readonly principal: string;
  readonly taskId: string;
}

/**
 * A stored push configuration. `sealedSecrets` contains the token and the credentials in encrypted form, and is
 * absent if the configuration has no secrets.
 */
export type SealedPushConfig<T extends TaskPushNotificationConfig = TaskPushNotificationConfig> = T & {
  readonly sealedSecrets?: string;
};

/** A push configuration with its secrets, or without its secrets if the decryption has failed. */
export interface OpenedPushConfig<T extends TaskPushNotificationConfig = TaskPushNotificationConfig> {
  readonly config: T;
  /** Description of the failure for the operator, without secrets. */
  readonly secretsError?: string;
}

interface PushSecrets {
  readonly token?: string;
  readonly credentials?: string;
}

interface PushSecretKey {
  readonly id: string;
  readonly bytes: Buffer;
}

const ENVELOPE_VERSION = "v1";
const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts the token and the credentials of push configurations with AES-256-GCM. An envelope names its version and its
 * key: `v1.<key id>.<base64url of nonce, ciphertext, and tag>`. The associated data contains the owner, the task, the
 * id, and the URL of the configuration, so that a changed or moved row cannot be decrypted.
 */
export class PushSecretCipher {
  readonly #keysById: ReadonlyMap<string, PushSecretKey>;
  readonly #currentKey: PushSecretKey | undefined;
  readonly #keySource: string;

  /**
   * The first key encrypts, and all keys decrypt. A key consists of 32 bytes in base64. If `keys` is `undefined`, the
   * cipher cannot encrypt. `keySource` is the name of the option or the file that contains the keys. Throws an error if
   * a key is invalid.
   */
  constructor(keys: readonly string[] | undefined, keySource: string) {
    if (keys?.length === 0) throw createKeyError(`${keySource} contains no key`);
    const decoded = (keys ?? []).map((key, at) => decodeKey(key, at, keySource));
    this.#currentKey = decoded[0];
    this.#keysById = new Map(decoded.map((key) => [key.id, key]));
    this.#keySource = keySource;
  }

  /** Creates a cipher with the keys of an option, which can be a function. */
  static async create(
    option: PushSecretKeysOption | undefined,
    keySource: string,
  ): Promise<PushSecretCipher> {
    return new PushSecretCipher(typeof option === "function" ? await option() : option, keySource);
  }

  /** Throws `UNSUPPORTED_OPERATION` if the cipher has no key. */
  assertCanEncrypt(): void {
    this.#requireCurrentKey();
  }

  /** Replaces the secrets of a configuration by an envelope. Without a key, throws an error if there are secrets. */
  seal<T extends TaskPushNotificationConfig>(config: T, task: PushConfigOwnerTask): SealedPushConfig<T> {
    const { token, authentication, ...rest } = config;
    const credentials = authentication?.credentials;
    if (!token && !credentials) return config;
    const secrets: PushSecrets = { ...(token ? { token } : {}), ...(credentials ? { credentials } : {}) };
    return {
      ...rest,
      ...(authentication ? { authentication: { scheme: authentication.scheme } } : {}),
      sealedSecrets: this.#encrypt(JSON.stringify(secrets), encodeAssociatedData(config, task)),
    } as SealedPushConfig<T>;
  }

  /** Restores the secrets of a stored configuration. */
  open<T extends TaskPushNotificationConfig>(
    stored: SealedPushConfig<T>,
    task: PushConfigOwnerTask,
  ): OpenedPushConfig<T> {
    if (stored.sealedSecrets === undefined) return { config: stored };
    const { sealedSecrets, ...publicConfig } = stored;
    const config = publicConfig as unknown as T;
    try {
      const secrets = decodeSecrets(this.#decrypt(sealedSecrets, encodeAssociatedData(config, task)));
      return { config: addSecrets(config, secrets) };
    } catch (error) {
      return { config, secretsError: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Encodes a queued turn as JSON, with the secrets of its webhook in encrypted form. */
  encodeTurn({ webhook, ...queued }: QueuedTurnData, task: PushConfigOwnerTask): string {
    return JSON.stringify(webhook ? { ...queued, webhook: this.seal(webhook, task) } : queued);
  }

  /** Decodes a queued turn. If the secrets of its webhook cannot be decrypted, they remain in encrypted form. */
  decodeTurn(json: string, task: PushConfigOwnerTask): QueuedTurnData {
    const turn = JSON.parse(json) as QueuedTurnData;
    if (!turn.webhook) return turn;
    const { config, secretsError } = this.open(turn.webhook, task);
    return secretsError === undefined ? { ...turn, webhook: config } : turn;
  }

  #encrypt(text: string, associatedData: Buffer): string {
    const key = this.#requireCurrentKey();
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key.bytes, nonce).setAAD(associatedData);
    const bytes = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return [ENVELOPE_VERSION, key.id, bytes.toString("base64url")].join(".");
  }

  #requireCurrentKey(): PushSecretKey {
    if (this.#currentKey) return this.#currentKey;
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      `The server has no key for the token and the credentials of a webhook; register a webhook without them, or set ${this.#keySource} on all servers.`,
    );
  }

  #decrypt(envelope: string, associatedData: Buffer): string {
    const [version, keyId = "", encoded = ""] = envelope.split(".");
    if (version !== ENVELOPE_VERSION)
      throw new Error("A newer version of Colloquy encrypted the secrets of this webhook; upgrade Colloquy.");
    const key = this.#keysById.get(keyId);
    if (!key) {
      throw new Error(
        `The secrets of this webhook were encrypted with the key ${keyId}, which ${this.#keySource} does not contain; restore the key, or register the webhook again.`,
      );
    }
    const bytes = Buffer.from(encoded, "base64url");
    const ciphertext = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
    try {
      const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(associatedData)
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
    } catch {
      throw new Error(
        "The stored secrets of this webhook were changed or belong to another webhook; register the webhook again.",
      );
    }
  }
}

/** Returns a new random key in base64. */
export function generatePushSecretKey(): string {
  return randomBytes(KEY_BYTES).toString("base64");
}

function decodeKey(text: string, at: number, keySource: string): PushSecretKey {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== KEY_BYTES || !/^[A-Za-z0-9+/_-]{43}=?$/.test(text))
    throw createKeyError(`Key ${at + 1} of ${keySource} is not ${KEY_BYTES} bytes in base64`);
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
}

function createKeyError(problem: string): A2AError {
  return new A2AError("INVALID_PARAMS", `${problem}; create a key with: openssl rand -base64 ${KEY_BYTES}`);
}

function encodeAssociatedData(
  { id, url }: TaskPushNotificationConfig,
  { tenant, principal, taskId }: PushConfigOwnerTask,
): Buffer {
  // A queued message without an id registers a webhook with the id of the task.
  return Buffer.from(JSON.stringify([ENVELOPE_VERSION, tenant, principal, taskId, id || taskId, url]));
}

function decodeSecrets(text: string): PushSecrets {
  const json: unknown = JSON.parse(text);
  if (!isObject(json)) return {};
  const { token, credentials } = json;
  return {
    ...(typeof token === "string" ? { token } : {}),
    ...(typeof credentials === "string" ? { credentials } : {}),
  };
}

function addSecrets<T extends TaskPushNotificationConfig>(config: T, { token, credentials }: PushSecrets): T {
  const { authentication } = config;
  return {
    ...config,
    ...(token === undefined ? {} : { token }),
    ...(authentication && credentials !== undefined
      ? { authentication: { ...authentication, credentials } }
      : {}),
  };
}
