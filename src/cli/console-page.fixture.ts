import type { Browser } from "playwright-core";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
  openPageRecordingRequestsAndErrors,
} from "../cards/html/browser.fixture.ts";
import { startServeCommandForTest, type ServingCliTestProcess } from "./cli-test-process.fixture.ts";

type OpenedTestPage = Awaited<ReturnType<typeof openPageRecordingRequestsAndErrors>>;

/** Returns whether this machine has Chromium, and prints that `subject` is not tested if there is none. */
export function canTestConsolePage(subject: string): boolean {
  if (findChromium() !== undefined) return true;
  process.stderr.write(`${subject} is not tested in a page: ${CHROMIUM_MISSING_MESSAGE}.\n`);
  return false;
}

/** A running command that offers the console, and a browser. */
export class ConsoleCommandTest {
  readonly browser: Browser;
  readonly #args: string[];
  #command: ServingCliTestProcess;

  private constructor(browser: Browser, args: string[], command: ServingCliTestProcess) {
    this.browser = browser;
    this.#args = args;
    this.#command = command;
  }

  static async start(args: string[], cwd: string): Promise<ConsoleCommandTest> {
    return new ConsoleCommandTest(await launchChromium(), args, await startServeCommandForTest(args, cwd));
  }

  /** URL of the console, with its launch token. */
  get url(): string {
    return /console: (\S+)/.exec(this.#command.banner)?.[1] ?? "";
  }

  /** Stops the command, and starts it again on the same port. */
  async restart(cwd: string): Promise<void> {
    const { port } = new URL(this.url);
    await this.#stop();
    this.#command = await startServeCommandForTest([...this.#args, "--port", port], cwd);
  }

  /** Opens the console, or one of its screens such as `/chat/tutor`. */
  openPage(route?: string): Promise<OpenedTestPage> {
    const suffix = route === undefined ? "" : `&route=${encodeURIComponent(route)}`;
    return openPageRecordingRequestsAndErrors(this.browser, this.url + suffix);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.#stop();
  }

  async #stop(): Promise<void> {
    this.#command.process.child.kill("SIGTERM");
    await this.#command.process.result;
  }
}
