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
} from "../../src/pages/console-page.fixture.ts";

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
const light = (await test.open(browser, "#/chat/ticker", { viewport, colorScheme: "light" })).page;
await send(light, "count to 5");
ticker.allow(2);
await light.locator(".artifact", { hasText: "2" }).waitFor();
await light.getByRole("button", { name: "Cut the connection" }).click();
await light.locator(".turn-note", { hasText: "Connected again" }).waitFor();
ticker.allow(3);
await waitForEnd(light);
await save(light, "console-chat-cut-light");
const cutTask = (await light.getByRole("link", { name: "Timeline" }).getAttribute("href")) ?? "";

await open(light, "#/chat/reporter");
await send(light, "Write a report about **two rivers**");
await waitForEnd(light);
await open(light, "#/chat/baker");
await send(light, "A cake for the *team*");
await light.getByTestId("answer").waitFor();
await save(light, "console-chat-form-light");
await open(light, "#/chat/clerk");
await send(light, "Buy a chair");
await light.getByTestId("answer").waitFor();
await open(light, "#/agents/reporter");
await light.locator(".card-report").waitFor();
await save(light, "console-agents-light");

const dark = (await test.open(browser, cutTask, { viewport, colorScheme: "dark" })).page;
await dark.locator("[data-mark=resume]").click();
await dark.locator(".inspector").waitFor();
await save(dark, "console-task-dark");
await open(dark, "#/tasks");
await dark.locator("[data-testid=task-row]").nth(3).waitFor();
await save(dark, "console-tasks-dark");

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
