import process from "node:process";
import { generatePushSecretKey, PushSecretCipher, type PushSecretKeysOption } from "../push-secret-cipher.ts";

/** Environment variable with the keys of the option `pushSecretKeys`, separated by commas. */
const KEYS_VARIABLE = "COLLOQUY_PUSH_SECRET_KEYS";

/**
 * Creates the cipher for the secrets of push configurations. Without keys, the cipher has a random key, so that only
 * the current process can decrypt the secrets. The database must not contain the key of the secrets that it stores.
 */
export async function createPostgresPushCipher(
  option: PushSecretKeysOption | undefined,
): Promise<PushSecretCipher> {
  const keySource = `"pushSecretKeys" of PostgresStore, or ${KEYS_VARIABLE},`;
  if (option !== undefined)
    return new PushSecretCipher(typeof option === "function" ? await option() : option, keySource);
  const keys = process.env[KEYS_VARIABLE]?.split(",").map((key) => key.trim());
  return new PushSecretCipher(keys ?? [generatePushSecretKey()], keySource);
}
