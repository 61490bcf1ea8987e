/**
 * `npm run lab -- pictures console` creates the screenshots of the console in `docs/images`. Real servers with small agents
 * produce the tasks.
 */
import { mkdirSync, statSync } from "node:fs";
import type { Page } from "playwright-core";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
} from "../../src/cards/html/browser.fixture.ts";
import {
  bakerAgent,
  clerkAgent,
  ConsolePageTest,
  reportAgent,
  SteppedAgent,
} from "../../src/studio/pages/console-page.fixture.ts";

const MAX_SCREENSHOT_BYTES = 150_000;

if (findChromium() === undefined) {
  console.error(CHROMIUM_MISSING_MESSAGE);
  process.exit(1);
}
const folder = new URL("../../docs/images/", import.meta.url);
mkdirSync(folder, { recursive: true });
const ticker = new SteppedAgent();
const test = await ConsolePageTest.call(
  { reporter: reportAgent, baker: bakerAgent, clerk: clerkAgent, ticker: ticker.agent },
  {},
  { name: "Colloquy" },
);
const browser = await launchChromium();
const viewport = { width: 1100, height: 640 };

// A stream that the user cuts, and that the client resumes.
const desktop = (await test.open(browser, "#/chat/ticker", { viewport, colorScheme: "light" })).page;
await send(desktop, "count to 5");
ticker.allow(2);
await desktop.locator(".artifact", { hasText: "2" }).waitFor();
await desktop.getByRole("button", { name: "Cut the connection" }).click();
await desktop.locator(".turn-note", { hasText: "Connected again" }).waitFor();
ticker.allow(3);
await waitForEnd(desktop);
await save(desktop, "console-chat-cut");
const cutTask = (await desktop.getByRole("link", { name: "Timeline" }).getAttribute("href")) ?? "";

await open(desktop, "#/chat/reporter");
await send(desktop, "Write a report about **two rivers**");
await waitForEnd(desktop);
await open(desktop, "#/chat/baker");
await send(desktop, "A cake for the *team*");
await desktop.getByTestId("answer").waitFor();
await save(desktop, "console-chat-form");
await open(desktop, "#/chat/clerk");
await send(desktop, "Buy a chair");
await desktop.getByTestId("answer").waitFor();
await open(desktop, "#/agents/reporter");
await desktop.locator(".card-report").waitFor();
await save(desktop, "console-agents");

const task = (await test.open(browser, cutTask, { viewport, colorScheme: "light" })).page;
await task.locator("[data-mark=resume]").click();
await task.locator(".inspector").waitFor();
await save(task, "console-task");
await open(task, "#/tasks");
await task.locator("[data-testid=task-row]").nth(3).waitFor();
await save(task, "console-tasks");

const phone = (await test.open(browser, cutTask, { viewport: { width: 390, height: 720 }, isMobile: true }))
  .page;
await phone.locator("[data-mark=cut]").waitFor();
await save(phone, "console-task-phone");
await browser.close();
await test.close();

async function open(page: Page, route: string): Promise<void> {
  await page.goto(`${test.url}/console/${route}`);
}

async function send(page: Page, message: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(message);
  await page.keyboard.press("Enter");
}

async function waitForEnd(page: Page): Promise<void> {
  await page.waitForSelector("[data-testid=turn]:last-child[data-status=ended]");
}

async function save(page: Page, name: string): Promise<void> {
  const path = new URL(`${name}.png`, folder).pathname;
  await page.screenshot({ path });
  const { size } = statSync(path);
  console.log(`${path}: ${Math.round(size / 1000)} kB`);
  if (size > MAX_SCREENSHOT_BYTES) throw new Error(`${path} is too large for the repository.`);
}
