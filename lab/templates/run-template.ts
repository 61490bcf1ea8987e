import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { launchChromium } from "../../src/cards/html/browser.fixture.ts";
import { connect } from "../../src/entries/client.ts";
import { findTestPort } from "../../test/support/test-ports.ts";

const START_TIMEOUT_MS = 240_000;
const ANSWER_TIMEOUT_MS = 60_000;
const ANSWER_END = "Replace this function with calls of your model.";

/** Starts a project, runs `use`, and ends the project. */
async function withStartedProject(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  healthUrl: string,
  use: () => Promise<void>,
): Promise<void> {
  const child = spawn("npm", ["start", "--", ...args], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group, because npm starts further processes.
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  try {
    await waitUntilReachable(healthUrl, child);
    await use();
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${output}`, { cause: error });
  } finally {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "close");
      process.kill(-child.pid, "SIGTERM");
      const isEnded = await Promise.race([ended.then(() => true), pause(10_000, false)]);
      if (!isEnded) process.kill(-child.pid, "SIGKILL");
    }
  }
}

async function waitUntilReachable(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Error(`npm start has ended with ${end}.`);
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await pause(250);
  }
  throw new Error(`${url} is not reachable.`);
}

/** Sends a message in Chromium, and reloads the page during the answer and after the answer. */
export async function runPageTemplate(template: string, folder: string): Promise<void> {
  const port = String(await findTestPort());
  const url = `http://127.0.0.1:${port}`;
  const args = template === "workers" ? ["--port", port, "--ip", "127.0.0.1"] : [];
  const card = `${url}/agents/.well-known/agent-card.json`;
  await withStartedProject(folder, args, { PORT: port, CI: "1" }, card, async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(url);
      await page.locator("input").fill("Hi");
      await page.keyboard.press("Enter");
      const answer = page.locator(".messages li.agent");
      await answer.filter({ hasText: "You said" }).waitFor({ timeout: ANSWER_TIMEOUT_MS });
      const before = await answer.innerText();
      if (before.includes(ANSWER_END)) throw new Error("The answer ended before the page was reloaded.");
      await page.reload();
      await assertWholeAnswer(page);
      await page.reload();
      await assertWholeAnswer(page);
      if (errors.length > 0) throw new Error(errors.join("\n"));
    } finally {
      await browser.close();
    }
  });
}

/** Checks that the page shows the message once and each word of the answer once. */
async function assertWholeAnswer(page: Page): Promise<void> {
  await page
    .locator(".messages li.agent")
    .filter({ hasText: ANSWER_END })
    .waitFor({ timeout: ANSWER_TIMEOUT_MS });
  const texts = await page.locator(".messages li").allInnerTexts();
  const [message, answer = "", ...more] = texts;
  const isWhole = answer.startsWith("You said “Hi”. Each word") && answer.split("You said").length === 2;
  if (message !== "Hi" || !isWhole || !answer.endsWith(ANSWER_END) || more.length > 0)
    throw new Error(`The page shows ${JSON.stringify(texts)}.`);
}

/** Asks the agent of the template without a model, and reads the finished task again. */
export async function runAdkTemplate(folder: string): Promise<void> {
  const port = String(await findTestPort());
  const url = `http://127.0.0.1:${port}`;
  await withStartedProject(folder, [], { PORT: port }, `${url}/healthz`, async () => {
    const client = await connect(url);
    const { text, task } = await client.ask("What is the weather in Paris?");
    if (text !== "It is sunny in Paris, 21 °C.") throw new Error(`The agent says ${text}.`);
    const stored = await client.tasks.get(task?.id ?? "");
    if (stored.status.state !== "TASK_STATE_COMPLETED") throw new Error(JSON.stringify(stored.status));
  });
}

/** Asks the app of `docs/complete-app.md`, answers its question after a reload, and opens the console as an operator. */
export async function runCompleteApp(folder: string): Promise<void> {
  const port = String(await findTestPort());
  const url = `http://127.0.0.1:${port}`;
  const operatorToken = "operator-of-the-complete-app";
  const environment = { PORT: port, OPERATOR_TOKEN: operatorToken, GEMINI_API_KEY: "" };
  await withStartedProject(folder, [], environment, url, async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      const answer = page.locator(".messages li.agent");
      const send = async (text: string, expected: string): Promise<void> => {
        await page.locator("input").fill(text);
        await page.keyboard.press("Enter");
        await answer.filter({ hasText: expected }).last().waitFor({ timeout: ANSWER_TIMEOUT_MS });
        await page.reload();
        await answer.filter({ hasText: expected }).last().waitFor({ timeout: ANSWER_TIMEOUT_MS });
      };
      await page.goto(url);
      await send("A table, please", "Free today: 18:00, 20:00. Which time?");
      await send("20:00", "Your table is booked for 20:00.");
      await send("A table, please", "Free today: 18:00. Which time?");
    } finally {
      await browser.close();
    }
    const tasks = await fetch(`${url}/agents/console/api/tasks`, {
      headers: { authorization: `Bearer ${operatorToken}` },
    });
    if (!(await tasks.text()).includes("A table, please")) throw new Error("The operator sees no task.");
    const anonymous = await fetch(`${url}/agents/a2a/tables`, { method: "POST" });
    if (anonymous.status !== 401)
      throw new Error(`A request without a token has status ${anonymous.status}.`);
  });
}
