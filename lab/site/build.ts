/**
 * `npm run lab -- site` builds the documentation site from the pages of the repository, into `reports/site`. The packages of
 * `site/package.json` are installed in `site/node_modules`, so that the main install stays small.
 *
 *     npm run lab -- site              # builds
 *     npm run lab -- site dev       # serves the site, and reloads changed pages
 *     npm run lab -- site preview   # serves the built site
 *
 * Set `SITE_BASE` for a site below a path of its host, such as `SITE_BASE=/colloquy/`, and also for `npm run lab -- site check`.
 */
import { join } from "node:path";
import process from "node:process";
import { repositoryRoot } from "../../site/site-pages.ts";
import { isInstalled } from "../../scripts/is-installed.mjs";
import { runProgramOrExit } from "../support/run-program.ts";

const siteFolder = join(repositoryRoot, "site");

const runInSite = (command: string, args: readonly string[]): unknown =>
  runProgramOrExit(command, args, { cwd: siteFolder });

if (!isInstalled(siteFolder)) {
  console.log("Installing the packages of site/package.json …");
  runInSite("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
}
const [command = "build"] = process.argv.slice(2);
if (command === "build") runInSite(join(repositoryRoot, "node_modules/.bin/tsc"), ["-p", "."]);
runInSite(join(siteFolder, "node_modules/.bin/vitepress"), [command, "."]);
