/** `npm run lab -- package licenses` checks the license of each package in the lock file, also of those for other platforms. */
import { readFileSync } from "node:fs";
import { listBundledPackageFolders } from "./bundled-packages.ts";
import { findLicenseProblems, type LockedPackage } from "./license-problems.ts";

const { packages } = JSON.parse(
  readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"),
) as { packages: Record<string, LockedPackage> };
const bundled = new Set(listBundledPackageFolders());
const problems = findLicenseProblems(packages, (path) => bundled.has(path));
for (const problem of problems) console.error(problem);
console.log(`${Object.keys(packages).length - 1} packages, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
