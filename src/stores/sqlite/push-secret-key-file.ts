import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { generatePushSecretKey, PushSecretCipher, type PushSecretKeysOption } from "../push-secret-cipher.ts";
import { syncFolder } from "./private-files.ts";

/**
 * Creates the cipher for the secrets of a store. Without keys in the options, the keys are in the file `<store>.key`,
 * which has one key per line. If the file does not exist, it is created with a random key. Call the function only while
 * the process holds the lock of the store.
 */
export async function createPushSecretCipher(
  storeFile: string,
  keys: PushSecretKeysOption | undefined,
): Promise<PushSecretCipher> {
  if (keys !== undefined) return await PushSecretCipher.create(keys, '"pushSecretKeys" of SqliteStore');
  const keyFile = `${storeFile}.key`;
  if (!existsSync(keyFile)) writeKeyFile(keyFile, generatePushSecretKey());
  const lines = readFileSync(keyFile, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  return new PushSecretCipher(
    lines.map((line) => line.trim()),
    basename(keyFile),
  );
}

/** Creates a file that only the current user can read. A crash leaves either the whole file or no file. */
function writeKeyFile(keyFile: string, key: string): void {
  const incomplete = `${keyFile}.incomplete`;
  rmSync(incomplete, { force: true });
  const file = openSync(incomplete, "wx", 0o600);
  try {
    writeSync(file, `${key}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(incomplete, keyFile);
  syncFolder(dirname(keyFile));
}
