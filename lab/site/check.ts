/**
 * `npm run lab -- site check` checks the site that `npm run lab -- site` has built: links, sizes and paint times of pages, and
 * accessibility in Chromium on a phone and a desktop in both themes. Writes screenshots to `reports/site-check`.
 *
 *     npm run lab -- site check             # the pages of SAMPLE_PAGES in four views
 *     npm run lab -- site check --all    # also each other page in one view
 *
 * `SITE_BASE` must have the value of the build.
 */
import { existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
} from "../../src/cards/html/browser.fixture.ts";
import { readSiteBase } from "../../site/site-base.ts";
import { checkSiteLinks } from "./check-links.ts";
import { measurePage } from "./measure-page.ts";
import { startSiteServer } from "./site-server.ts";

const siteFolder = fileURLToPath(new URL("../../reports/site", import.meta.url));
const screenshotFolder = fileURLToPath(new URL("../../reports/site-check", import.meta.url));
const axeFile = fileURLToPath(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url));

/** One page of each kind: home, long text, examples with output, pictures, tables, an index, and a source file. */
const SAMPLE_PAGES = process.argv.includes("--quick")
  ? ["index.html", "reference/client.html"]
  : [
      "index.html",
      "tutorial.html",
      "how-to/stream.html",
      "how-to/record.html",
      "card-recordings.html",
      "reference/client.html",
      "decisions/index.html",
      "deploy/index.html",
      "source/deploy/compose.yaml.html",
      "ko/index.html",
    ];
const MEASURED_PAGES = ["index.html", "how-to/stream.html", "reference/client.html"];

/** Limits of one page. The times are Lighthouse's limits for a good page. */
const LIMITS = { scriptBytes: 150_000, totalBytes: 500_000, paintMs: 2500, layoutShift: 0.1 };

const VIEWS = [
  { name: "phone-light", width: 390, height: 844, colorScheme: "light" },
  { name: "phone-dark", width: 390, height: 844, colorScheme: "dark" },
  { name: "desktop-light", width: 1440, height: 900, colorScheme: "light" },
  { name: "desktop-dark", width: 1440, height: 900, colorScheme: "dark" },
] as const;

const base = readSiteBase(process.env);
const problems: string[] = [];

if (!existsSync(siteFolder)) fail("There is no site in reports/site. Run: npm run lab -- site");
if (findChromium() === undefined) fail(CHROMIUM_MISSING_MESSAGE);
mkdirSync(screenshotFolder, { recursive: true });

const { pages, links, broken } = checkSiteLinks(siteFolder, base);
console.log(`Links: ${links} on ${pages} pages, ${broken.length} broken`);
for (const { page, link } of broken) problems.push(`${page} links to ${link}, which does not exist.`);

const { url, server } = await startSiteServer(siteFolder, base);
const browser = await launchChromium();
try {
  for (const page of MEASURED_PAGES) await checkMeasurement(browser, page);
  for (const page of SAMPLE_PAGES) for (const view of VIEWS) await checkView(browser, page, view);
  if (process.argv.includes("--all"))
    for (const page of globSync("**/*.html", { cwd: siteFolder }).toSorted())
      if (!SAMPLE_PAGES.includes(page)) await checkView(browser, page, VIEWS[0]);
  await checkSearch(browser);
} catch (error) {
  problems.push(`The check has stopped early: ${String(error)}`);
} finally {
  await browser.close();
  server.close();
}
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "The site has no problems." : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function checkMeasurement(browser: Browser, page: string): Promise<void> {
  const measured = await measurePage(browser, `${url}/${page}`);
  const { scriptBytes, totalBytes, largestContentfulPaintMs, cumulativeLayoutShift } = measured;
  console.log(
    `${page}: scripts ${toKilobytes(scriptBytes)}, all files ${toKilobytes(totalBytes)}, largest paint ` +
      `${largestContentfulPaintMs} ms, layout shift ${cumulativeLayoutShift}`,
  );
  if (scriptBytes > LIMITS.scriptBytes) problems.push(`${page} loads ${scriptBytes} bytes of scripts.`);
  if (totalBytes > LIMITS.totalBytes) problems.push(`${page} loads ${totalBytes} bytes.`);
  if (largestContentfulPaintMs === 0 || largestContentfulPaintMs > LIMITS.paintMs)
    problems.push(`${page} has its largest paint after ${largestContentfulPaintMs} ms.`);
  if (cumulativeLayoutShift > LIMITS.layoutShift)
    problems.push(`${page} has a layout shift of ${cumulativeLayoutShift}.`);
}

async function checkView(browser: Browser, path: string, view: (typeof VIEWS)[number]): Promise<void> {
  const { page, errors } = await openPage(browser, path, view);
  const location = `${path} (${view.name})`;
  const overflow = await page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  if (overflow > 0) problems.push(`${location} is ${overflow} px wider than the screen.`);
  await reportAxeViolations(page, location);
  for (const error of errors) problems.push(`${location}: ${error}`);
  if (SAMPLE_PAGES.includes(path))
    await page.screenshot({ path: join(screenshotFolder, `${path.replaceAll("/", "-")}-${view.name}.png`) });
  await page.context().close();
}

async function openPage(
  browser: Browser,
  path: string,
  { width, height, colorScheme }: (typeof VIEWS)[number],
): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:"))
      errors.push(`The page requests ${request.url()}.`);
  });
  await page.goto(`${url}/${path}`, { waitUntil: "networkidle" });
  return { page, errors };
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

async function reportAxeViolations(page: Page, location: string): Promise<void> {
  await page.addScriptTag({ content: readFileSync(axeFile, "utf8") });
  const { violations } = await page.evaluate<AxeResult>("axe.run()");
  for (const { id, help, nodes } of violations)
    problems.push(`${location}: axe ${id} (${help}): ${nodes[0]?.html.slice(0, 200)}`);
}

/** Searches without a network, and opens the first result with the keyboard. */
async function checkSearch(browser: Browser): Promise<void> {
  for (const view of [VIEWS[0], VIEWS[3]]) {
    const { page, errors } = await openPage(browser, "index.html", view);
    await openSearch(page);
    await page.locator(".VPLocalSearchBox input").fill("Last-Event-ID");
    await page.locator(".VPLocalSearchBox .result").first().waitFor();
    await reportAxeViolations(page, `search (${view.name})`);
    await page.screenshot({ path: join(screenshotFolder, `search-${view.name}.png`) });
    await page.keyboard.press("Enter");
    await page.waitForURL(/\.html/);
    const text = await page.locator("main").innerText();
    if (!text.includes("Last-Event-ID"))
      problems.push(`The first result for Last-Event-ID is ${page.url()}.`);
    for (const error of errors) problems.push(`search: ${error}`);
    await page.context().close();
  }
}

/** Presses the search key until the search opens: the page does not receive keys before its script runs. */
async function openSearch(page: Page): Promise<void> {
  const input = page.locator(".VPLocalSearchBox input");
  for (let press = 0; press < 20 && !(await input.isVisible()); press++) {
    await page.keyboard.press("Control+k");
    await input.waitFor({ timeout: 1000 }).catch(() => undefined);
  }
}

function toKilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000)} kB`;
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
