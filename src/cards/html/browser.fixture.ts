import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const BROWSER_EXECUTABLES = [
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
  "chrome",
];

/** The browser of this machine: what `CHROMIUM_PATH` names, or the first in the `PATH`; `undefined` when there is none. */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const { CHROMIUM_PATH: named, PATH: path = "" } = env;
  if (named !== undefined && named !== "") return existsSync(named) ? named : undefined;
  const places = path
    .split(delimiter)
    .flatMap((folder) => BROWSER_EXECUTABLES.map((name) => join(folder, name)));
  return places.find((place) => existsSync(place));
}

/** Why tests of pages are passed over, for whoever reads their output. */
export const CHROMIUM_MISSING_MESSAGE =
  "no Chromium: set CHROMIUM_PATH, or install one (Debian and Ubuntu: apt-get install chromium)";

export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(CHROMIUM_MISSING_MESSAGE);
  // In containers there is no user namespace for its sandbox; it opens nothing but our own pages here.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** A page, and all that it asks for, complains of and shows in dialogs. */
export interface ObservedPage {
  readonly page: Page;
  readonly requests: string[];
  readonly errors: string[];
}

export async function openObservedPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<ObservedPage> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  await page.waitForSelector("body[data-ready]");
  return { page, requests, errors: complaints };
}

/** Writes a page to a disk; answers its file: URL. */
export async function writePageToDisk(html: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "colloquy-page-")), "run.html");
  await writeFile(file, html);
  return pathToFileURL(file).href;
}
