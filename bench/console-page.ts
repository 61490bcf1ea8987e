/**
 * Measures the page of the console in the local Chromium: `npm run bench:console-page`. A real server stores the tasks,
 * and a real console delivers them. The figures are the time until a task of 10,000 events is shown, the longest frame
 * while 1,000 events arrive per second, and the JavaScript heap.
 */
import { CHROMIUM_MISSING_MESSAGE, findChromium, launchChromium } from "../src/cards/html/browser.fixture.ts";
import { agent, status } from "../src/adapters/index.ts";
import { connect } from "../src/client/index.ts";
import { ConsolePageTest } from "../src/pages/console-page.fixture.ts";

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
  const { page } = await test.open(browser, `#/task/reporter/${taskId}`);
  await page.locator(`[data-testid=timeline]`).waitFor();
  await page.waitForFunction(
    `Number(document.querySelector("[data-testid=timeline]")?.dataset.entries) >= ${LONG_TASK_EVENTS}`,
  );
  // The time since navigation includes the load of the script and of all lines.
  loadTimes.push(
    await page.evaluate<number>(
      `new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())))`,
    ),
  );
  loadCpuTimes.push(await measureCpuMs(page));
  heapBytes = Math.max(heapBytes, await measureHeap(page));
  await page.close();
}
console.log(
  `${LONG_TASK_EVENTS} events: shown ${formatMedianAndMax(loadTimes)} after the navigation, CPU time of the main thread ${formatMedianAndMax(loadCpuTimes)}, heap ${formatMegabytes(heapBytes)}`,
);

const { page } = await test.open(browser, "#/tasks");
const livePromise = client.ask(`${LIVE_EVENTS_PER_SECOND * LIVE_SECONDS} ${LIVE_EVENTS_PER_SECOND}`);
const row = page.locator("[data-testid=task-row][data-state=TASK_STATE_WORKING]");
await row.click();
await page.locator("[data-testid=timeline]").waitFor();
await page.evaluate(`(() => {
  const frames = (window.frames_ = []);
  let last = performance.now();
  const note = (now) => { frames.push(now - last); last = now; requestAnimationFrame(note); };
  requestAnimationFrame(note);
})()`);
const cpuBefore = await measureCpuMs(page);
await livePromise;
const cpuShare = ((await measureCpuMs(page)) - cpuBefore) / (LIVE_SECONDS * 10);
const frames = await page.evaluate<number[]>(`window.frames_`);
const shown = await page.locator("[data-testid=timeline]").getAttribute("data-entries");
console.log(
  `${LIVE_EVENTS_PER_SECOND} events/s for ${LIVE_SECONDS} s: ${frames.length} frames, median ${formatMedianAndMax(frames)}, ` +
    `${frames.filter((ms) => ms > 100).length} over 100 ms, CPU ${cpuShare.toFixed(0)} %, ${shown} lines shown, heap ${formatMegabytes(await measureHeap(page))}`,
);
await browser.close();
await test.close();

/** Returns the CPU time of the page's main thread, which does not depend on the load of the machine. */
async function measureCpuMs(target: typeof page): Promise<number> {
  const session = await target.context().newCDPSession(target);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const { metrics } = await session.send("Performance.getMetrics");
  await session.detach();
  return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
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
