import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isPrefixedSecret, PREFIXED_SECRET, PRIVATE_KEY_BEGINNING } from "../../observe/logging/index.ts";
import { defineRules, fail, NotVerified, type Check } from "../../studio/judge/index.ts";
import { getStoreFile, listSecretFiles, type Project } from "./project.ts";

const MAX_FILE_BYTES = 256 * 1024;
/** Shorter texts after the prefix of a token are names, such as `sk-button`. */
const MIN_TOKEN_LENGTH = 16;

/** Checks of what git tracks. */
export const SECRET_CHECKS: readonly Check<Project>[] = defineRules<Project, string>({
  "PROJECT-TRACKED-FILES"(project) {
    const { config, folder } = project;
    const store = getStoreFile(project);
    const named = [...listSecretFiles(project), store, config.record].flatMap((file) =>
      file === undefined ? [] : [relative(folder, file).replaceAll("\\", "/")],
    );
    const tracked = listTrackedFiles(folder);
    const wrong = tracked.filter(
      (file) =>
        named.some((name) => file === name || file.startsWith(`${name}-`) || file === `${name}.key`) ||
        (/(?:^|\/)\.env(?:\.|$)/.test(file) && !/example|sample|template|test/.test(file)),
    );
    if (wrong.length > 0) fail(`Git tracks ${wrong.join(", ")}.`);
    return `${tracked.length} tracked files.`;
  },
  "PROJECT-TRACKED-SECRETS"({ folder }) {
    const files = listTrackedFiles(folder);
    const found = files.filter((file) => hasSecret(join(folder, file)));
    if (found.length > 0) fail(`${found.slice(0, 10).join(", ")} contain what looks like a secret.`);
    return `${files.length} files searched.`;
  },
});

function listTrackedFiles(folder: string): string[] {
  try {
    const options = { cwd: folder, stdio: "pipe", maxBuffer: 2 ** 26 } as const;
    const files = execFileSync("git", ["ls-files", "-z"], options).toString();
    return files.split("\0").filter((file) => file !== "");
  } catch {
    throw new NotVerified("Git does not track this folder.");
  }
}

function hasSecret(file: string): boolean {
  try {
    if (statSync(file).size > MAX_FILE_BYTES) return false;
    const text = readFileSync(file, "utf8");
    if (text.includes("\0")) return false;
    if (text.search(PRIVATE_KEY_BEGINNING) >= 0) return true;
    return [...text.matchAll(PREFIXED_SECRET)].some(
      ([, prefix = "", rest = ""]) =>
        rest.length >= MIN_TOKEN_LENGTH && /\d/.test(rest) && isPrefixedSecret(prefix, rest),
    );
  } catch {
    // A tracked file can be deleted, or be a link to a folder.
    return false;
  }
}
