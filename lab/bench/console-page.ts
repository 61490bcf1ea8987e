/**
 * Measures the page of the console in the local Chromium: `npm run lab -- bench console-page`. A real server stores the tasks,
 * and a real console delivers them. The figures are the time until a task of 10,000 events is shown, the longest frame
 * while 1,000 events arrive per second, and the JavaScript heap.
 */
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
} from "../../src/cards/html/browser.fixture.ts";
import { agent, status } from "../../src/adapters/index.ts";
import { connect } from "../../src/client/index.ts";
import { ConsolePageTest } from "../../src/pages/console-page.fixture.ts";

const LONG_TASK_EVENTS = 10_000;
const LIVE_EVENTS_PER_SECOND = 1_000;
const LIVE_SECONDS = 10;
const LOAD_REPETITIONS = 5;

if (findChromium() === undefined) {
  console.log(CHROMIUM_MISSING_MESSAGE);
  process.exit(1);
}

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

const test = await ConsolePageTest.serve({ reporter });
const browser = await launchChromium();
console.log(`Chromium ${browser.version()}`);
const client = await connect(test.url);
const sent = await client.ask(`${LONG_TASK_EVENTS}`);
const taskId = sent.task?.id ?? "";

const loadTimes: number[] = [];
const loadCpuTimes: number[] = [];
let heapBytes = 0;
for (let repetition = 0; repetition < LOAD_REPETITIONS; repetition++) {
  const { page } = await test.open(browser, "#/tasks");
  const readCpuMs = await startCpuMeasurement(page);
  loadTimes.push(
    await page.evaluate<number>(`new Promise((resolve) => {
      const start = performance.now();
      location.hash = "#/task/reporter/${taskId}";
      const check = () =>
        Number(document.querySelector("[data-testid=timeline]")?.dataset.entries) >= ${LONG_TASK_EVENTS}
          ? resolve(performance.now() - start)
          : requestAnimationFrame(check);
      check();
    })`),
  );
  loadCpuTimes.push(await readCpuMs());
  heapBytes = Math.max(heapBytes, await measureHeap(page));
  await page.close();
}
console.log(
  `${LONG_TASK_EVENTS} events: shown after ${formatMedianAndMax(loadTimes)}, CPU time of the page ${formatMedianAndMax(loadCpuTimes)}, ` +
    `heap ${formatMegabytes(heapBytes)}`,
);

const { page } = await test.open(browser, "#/tasks");
const livePromise = client.ask(`${LIVE_EVENTS_PER_SECOND * LIVE_SECONDS} ${LIVE_EVENTS_PER_SECOND}`);
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
await livePromise;
const measuredMs = performance.now() - startedAt;
const cpuMs = await readCpuMs();
const frames = await page.evaluate<number[]>(`window.recordedFrames`);
const shown = await page.locator("[data-testid=timeline]").getAttribute("data-entries");
console.log(
  `${LIVE_EVENTS_PER_SECOND} events/s, measured for ${(measuredMs / 1_000).toFixed(1)} s: ${frames.length} frames, ` +
    `${formatMedianAndMax(frames)}, ${frames.filter((ms) => ms > 100).length} over 100 ms, ` +
    `CPU time of the page ${((100 * cpuMs) / measuredMs).toFixed(0)} % of a core, ${shown} lines shown, ` +
    `heap ${formatMegabytes(await measureHeap(page))}`,
);
await browser.close();
await test.close();

/** Returns a function that returns the CPU time of the page's main thread since now, in milliseconds. */
async function startCpuMeasurement(target: typeof page): Promise<() => Promise<number>> {
  const session = await target.context().newCDPSession(target);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
  };
}

async function measureHeap(target: typeof page): Promise<number> {
  const session = await target.context().newCDPSession(target);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}

function formatMedianAndMax(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms (longest ${sorted.at(-1)?.toFixed(0)} ms)`;
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
