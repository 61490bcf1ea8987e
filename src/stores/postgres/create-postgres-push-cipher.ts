import process from "node:process";
import { PushSecretCipher, type PushSecretKeysOption } from "../push-secret-cipher.ts";

/** Environment variable with the keys of the option `pushSecretKeys`, separated by commas. */
const KEYS_VARIABLE = "COLLOQUY_PUSH_SECRET_KEYS";

/**
 * Creates the cipher for the secrets of push configurations. Without keys, the cipher refuses to encrypt: the
 * database must not contain the key of the secrets that it stores, and the other servers would not know a random key.
 */
export async function createPostgresPushCipher(
  option: PushSecretKeysOption | undefined,
): Promise<PushSecretCipher> {
  const keySource = `"pushSecretKeys" of PostgresStore or ${KEYS_VARIABLE}`;
  const variable = process.env[KEYS_VARIABLE]?.trim();
  const keys = variable ? variable.split(",").map((key) => key.trim()) : undefined;
  return await PushSecretCipher.create(option ?? keys, keySource);
}
