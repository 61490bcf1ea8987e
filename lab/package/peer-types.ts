/**
 * Compiles `test/interop/user/peers`: the entries whose types depend on other packages, with `skipLibCheck: false`. Errors in the
 * types of ADK do not count, because those types import packages that ADK does not install.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findCountedTypeErrors } from "./type-errors.ts";

const { status, stdout } = spawnSync("tsc", ["-p", "test/interop/user/peers", "--pretty", "false"], {
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  stdio: ["ignore", "pipe", "inherit"],
  encoding: "utf8",
  shell: process.platform === "win32",
});
const errors = status === 0 ? [] : findCountedTypeErrors(stdout);
for (const error of errors) console.error(error);
process.exitCode = errors.length === 0 ? 0 : 1;
