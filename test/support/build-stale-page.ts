import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Builds the page of the console before the tests of a run, unless the bundle is up to date. */
export default function buildStalePage(): void {
  const script = fileURLToPath(new URL("../../scripts/build-page.mjs", import.meta.url));
  const { status } = spawnSync(process.execPath, [script, "--if-stale"], { stdio: "inherit" });
  if (status !== 0) throw new Error("The page could not be built. Run `node scripts/build-page.mjs`.");
}
