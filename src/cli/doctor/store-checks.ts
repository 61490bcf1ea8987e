import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { redactUserInfo } from "../../observe/logging/index.ts";
import { isPostgresUrl, planPostgresMigration, PostgresStore } from "../../stores/index.ts";
import { defineRules, fail, NotVerified, warn, type Check } from "../../studio/judge/index.ts";
import { getStoreFile, listSecretFiles, type Project } from "./project.ts";

const MIN_FREE_BYTES = 200 * 2 ** 20;
/** File systems of networks, on which SQLite loses data: NFS, CIFS, SMB2, and SMB. */
const NETWORK_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x69_69, 0xff_53_4d_42, 0xfe_53_4d_42, 0x51_7b]);

/** Checks of the task store. */
export const STORE_CHECKS: readonly Check<Project>[] = defineRules<Project, string>({
  "PROJECT-STORE"({ config: { store = "sqlite:.colloquy/colloquy.db", role = "all" } }) {
    if (role !== "all" && !isPostgresUrl(store)) fail(`The role ${role} requires a postgres:// store.`);
    if (store === "memory") warn("The store memory forgets all tasks.");
    return redactUserInfo(store);
  },
  "PROJECT-STORE-FOLDER"(project) {
    const file = getStoreFile(project);
    if (file === undefined) throw new NotVerified("The store is no SQLite file.");
    const folder = findExistingFolder(dirname(file));
    try {
      accessSync(folder, constants.W_OK);
    } catch {
      fail(`${folder} is not writable.`);
    }
    const { type, bavail, bsize } = statfsSync(folder);
    if (NETWORK_FILE_SYSTEMS.has(type)) fail(`${folder} is on a network, where locks of SQLite do not work.`);
    const seen = `${folder} has ${Math.round((bavail * bsize) / 2 ** 20)} MiB of free space.`;
    return bavail * bsize < MIN_FREE_BYTES ? warn(seen) : seen;
  },
  "PROJECT-FILE-MODES"(project) {
    if (process.platform === "win32") throw new NotVerified("Windows has no file modes.");
    const store = getStoreFile(project);
    const files = [
      ...["", "-wal", ".key", "-console-secret"].map((suffix) => `${store}${suffix}`),
      ...listSecretFiles(project),
    ].filter((file) => existsSync(file));
    const open = files.filter((file) => (statSync(file).mode & 0o077) !== 0);
    if (open.length > 0) fail(`Other users of this machine have access to ${open.join(", ")}.`);
    return `${files.length} files.`;
  },
  async "PROJECT-DATABASE"({ config }) {
    const { fromVersion, toVersion, script } = await planPostgresMigration(requirePostgresUrl(config)).catch(
      (error: Error) => fail(error.message),
    );
    if (script !== undefined) warn(`The schema is ${fromVersion}. A server migrates it to ${toVersion}.`);
    return `The schema is ${toVersion}.`;
  },
  async "PROJECT-HINTS"({ config, allowsMore }) {
    const url = requirePostgresUrl(config);
    if (!allowsMore) throw new NotVerified("The check registers as a server for a moment. Pass --yes.");
    const store = new PostgresStore(url, { migrate: false, poolSize: 2 });
    try {
      await store.open().catch((error: Error) => fail(error.message));
      const { hints } = store.nodes;
      const unsupported = await new Promise<string | undefined>((resolve) => {
        hints?.onHint(() => hints.isReceiving && resolve(undefined));
        hints?.onUnsupported?.(resolve);
      });
      if (unsupported !== undefined) warn(unsupported);
      return "A notification of another connection arrived.";
    } finally {
      await store.close();
    }
  },
});

function requirePostgresUrl({ store = "" }: Project["config"]): string {
  if (!isPostgresUrl(store)) throw new NotVerified("The store is no PostgreSQL database.");
  return store;
}

function findExistingFolder(folder: string): string {
  return existsSync(folder) ? folder : findExistingFolder(dirname(folder));
}
