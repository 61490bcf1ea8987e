import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** The headless shell is the same browser without windows. A page takes half of the CPU time in it. */
const CHROMIUM_EXECUTABLE_NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
  "chrome",
];

/**
 * Returns the path of the browser: that of `CHROMIUM_PATH`, else the first name that is in `PATH`. Returns `undefined`
 * if there is no browser.
 */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const { CHROMIUM_PATH: named, PATH: path = "" } = env;
  if (named !== undefined && named !== "") return existsSync(named) ? named : undefined;
  const folders = path.split(delimiter);
  const candidates = CHROMIUM_EXECUTABLE_NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find((file) => existsSync(file));
}

/** Reason that the test output shows when page tests are skipped. */
export const CHROMIUM_MISSING_MESSAGE =
  "no Chromium: set CHROMIUM_PATH, or install one (Debian: apt-get install chromium-headless-shell, or chromium)";

/**
 * Chromium uses only the last list of disabled features, so this list repeats the features that Playwright disables. The
 * last features are two pages of the address bar that each window renders, and that are invisible without a screen.
 * Without them, opening a page takes 0.7 s of CPU time instead of 1.2 s.
 */
const DISABLED_FEATURES = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "TcpPortRandomizationWin",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
];

/** Without a process for the GPU and without spare processes, the browser takes a fifth less CPU time. */
const FEWER_PROCESSES = ["--disable-gpu", "--in-process-gpu", "--renderer-process-limit=1"];

/** Starts the browser. Throws if the machine has none. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(CHROMIUM_MISSING_MESSAGE);
  // The sandbox requires user namespaces, which containers lack. The browser only opens our own pages.
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-dev-shm-usage",
      `--disable-features=${DISABLED_FEATURES.join(",")}`,
      ...FEWER_PROCESSES,
    ],
  });
}

/** A page with its recorded requests, errors, warnings, and dialogs. */
export interface PageWithRequestsAndErrors {
  readonly page: Page;
  readonly requests: string[];
  readonly errors: string[];
}

/** Opens a URL in a new page and waits until the page is ready. */
export async function openPageRecordingRequestsAndErrors(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<PageWithRequestsAndErrors> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("dialog", (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  await page.waitForSelector("body[data-ready]");
  return { page, requests, errors };
}

/** Writes a page to a temporary file and returns its file: URL. */
export async function writePageToDisk(html: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "colloquy-page-")), "run.html");
  await writeFile(file, html);
  return pathToFileURL(file).href;
}
