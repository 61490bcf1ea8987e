import type { Page } from "playwright-core";
import { agent, status } from "../../../src/agents/adapters/index.ts";
import { launchChromium } from "../../../src/cards/html/browser.fixture.ts";
import { connect } from "../../../src/client/index.ts";
import { ConsolePageTest } from "../../../src/studio/pages/console-page.fixture.ts";
import { computeMedian } from "../interval.ts";
import { createRow, type ReportTable } from "../report.ts";

const LONG_TASK_EVENTS = 10_000;
const LIVE_EVENTS_PER_SECOND = 1_000;
const LIVE_SECONDS = 10;
const LOAD_REPETITIONS = 5;

/** Reports its progress `count` times: at once, or at the given rate. */
const reporter = agent(
  { name: "reporter", description: "Reports its progress." },
  async function* ({ text }) {
    const [count = 0, perSecond = 0] = text.split(" ").map(Number);
    const start = performance.now();
    for (let number = 1; number <= count; number++) {
      if (perSecond > 0) {
        const waitMs = start + (number * 1_000) / perSecond - performance.now();
        if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
      yield status(`Step ${number} of ${count}`);
    }
  },
);

/**
 * Measures the page of the console in the local Chromium. A real server stores the tasks, and a real console delivers
 * them. The figures are the time until a task of 10,000 events is shown, the longest frame while 1,000 events arrive per
 * second, and the JavaScript heap.
 */
export async function measureConsolePage(): Promise<ReportTable[]> {
  const test = await ConsolePageTest.serve({ reporter });
  const browser = await launchChromium();
  try {
    const client = await connect(test.url);
    const sent = await client.ask(`${LONG_TASK_EVENTS}`);
    const loads: Load[] = [];
    for (let repetition = 0; repetition < LOAD_REPETITIONS; repetition++) {
      const { page } = await test.open(browser, "#/tasks");
      loads.push(await measureLoad(page, sent.task?.id ?? ""));
      await page.close();
    }
    const { page } = await test.open(browser, "#/tasks");
    const done = client.ask(`${LIVE_EVENTS_PER_SECOND * LIVE_SECONDS} ${LIVE_EVENTS_PER_SECOND}`);
    const live = await measureLiveTask(page, done);
    const shownMs = loads.map(({ ms }) => ms);
    return [
      {
        workload: "console-page",
        title: `Page of the console, Chromium ${browser.version()}: a task of ${LONG_TASK_EVENTS} events, median of ${LOAD_REPETITIONS}`,
        columns: [
          { key: "ms", title: "shown after ms", format: "ms" },
          { key: "slowest", title: "slowest", format: "ms" },
          { key: "cpu", title: "cpu ms", format: "ms" },
          { key: "heap", title: "heap MB", format: "ms" },
        ],
        rows: [
          createRow("load", {
            ms: computeMedian(shownMs),
            slowest: Math.max(...shownMs),
            cpu: computeMedian(loads.map(({ cpuMs }) => cpuMs)),
            heap: Math.max(...loads.map(({ heapMb }) => heapMb)),
          }),
        ],
      },
      {
        workload: "console-page",
        title: `Page of the console: ${LIVE_EVENTS_PER_SECOND} events per second`,
        columns: [
          { key: "frames", title: "frames", format: "count" },
          { key: "frame", title: "frame ms", format: "ms" },
          { key: "longest", title: "longest", format: "ms" },
          { key: "slow", title: "over 100 ms", format: "count" },
          { key: "cpu", title: "cpu % of a core", format: "count" },
          { key: "shown", title: "lines shown", format: "count" },
          { key: "heap", title: "heap MB", format: "ms" },
        ],
        rows: [createRow("live", live)],
      },
    ];
  } finally {
    await browser.close();
    await test.close();
  }
}

interface Load {
  readonly ms: number;
  readonly cpuMs: number;
  readonly heapMb: number;
}

async function measureLoad(page: Page, taskId: string): Promise<Load> {
  const readCpuMs = await startCpuMeasurement(page);
  const ms = await page.evaluate<number>(`new Promise((resolve) => {
    const start = performance.now();
    location.hash = "#/task/reporter/${taskId}";
    const check = () =>
      Number(document.querySelector("[data-testid=timeline]")?.dataset.entries) >= ${LONG_TASK_EVENTS}
        ? resolve(performance.now() - start)
        : requestAnimationFrame(check);
    check();
  })`);
  return { ms, cpuMs: await readCpuMs(), heapMb: await measureHeapMb(page) };
}

/** Measures the page while it shows a running task, until `done` resolves. */
async function measureLiveTask(page: Page, done: Promise<unknown>): Promise<Record<string, number>> {
  await page.locator("[data-testid=task-row][data-state=TASK_STATE_WORKING]").click();
  await page.locator("[data-testid=timeline]").waitFor();
  const readCpuMs = await startCpuMeasurement(page);
  const startedAt = performance.now();
  await page.evaluate(`(() => {
    const frames = (window.recordedFrames = []);
    let last = performance.now();
    const note = (now) => { frames.push(now - last); last = now; requestAnimationFrame(note); };
    requestAnimationFrame(note);
  })()`);
  await done;
  const cpu = (100 * (await readCpuMs())) / (performance.now() - startedAt);
  const frames = await page.evaluate<number[]>(`window.recordedFrames`);
  return {
    frames: frames.length,
    frame: computeMedian(frames),
    longest: Math.max(...frames),
    slow: frames.filter((ms) => ms > 100).length,
    cpu,
    shown: Number(await page.locator("[data-testid=timeline]").getAttribute("data-entries")),
    heap: await measureHeapMb(page),
  };
}

/** Returns a function that returns the CPU time of the page's main thread since now, in milliseconds. */
async function startCpuMeasurement(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
  };
}

async function measureHeapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
}
