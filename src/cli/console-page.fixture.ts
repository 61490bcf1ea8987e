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
  /** URL of the console, with its launch token. */
  readonly url: string;
  readonly #command: ServingCliTestProcess;

  private constructor(browser: Browser, command: ServingCliTestProcess) {
    this.browser = browser;
    this.#command = command;
    this.url = /console: (\S+)/.exec(command.banner)?.[1] ?? "";
  }

  static async start(args: string[], cwd: string): Promise<ConsoleCommandTest> {
    return new ConsoleCommandTest(await launchChromium(), await startServeCommandForTest(args, cwd));
  }

  /** Opens the console, or one of its screens such as `/chat/tutor`. */
  openPage(route?: string): Promise<OpenedTestPage> {
    const suffix = route === undefined ? "" : `&route=${encodeURIComponent(route)}`;
    return openPageRecordingRequestsAndErrors(this.browser, this.url + suffix);
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.#command.process.child.kill("SIGTERM");
    await this.#command.process.result;
  }
}
