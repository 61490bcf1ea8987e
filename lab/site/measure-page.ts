import type { Browser } from "playwright-core";

/** Sizes and times of one page, loaded with the network and the processor of Lighthouse's phone. */
export interface PageMeasurement {
  /** Compressed bytes of scripts, styles, and all files that the page loads without scrolling. */
  readonly scriptBytes: number;
  readonly styleBytes: number;
  readonly totalBytes: number;
  readonly largestContentfulPaintMs: number;
  readonly cumulativeLayoutShift: number;
}

/** Lighthouse's "slow 4G": 1.6 Mbit/s, and 150 ms for a round trip. */
const PHONE_NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1024 * 1024) / 8,
  uploadThroughput: (750 * 1024) / 8,
};
const PHONE_SLOWDOWN = 4;

/** Collects the times in the page. A string, because the DOM types are not part of this project. */
const OBSERVE_PAINTS = `
globalThis.paintTimes = { largestPaintMs: 0, layoutShift: 0 };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) paintTimes.largestPaintMs = entry.startTime;
}).observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) paintTimes.layoutShift += entry.value;
}).observe({ type: "layout-shift", buffered: true });`;

export async function measurePage(browser: Browser, url: string): Promise<PageMeasurement> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", PHONE_NETWORK);
  await session.send("Emulation.setCPUThrottlingRate", { rate: PHONE_SLOWDOWN });
  const types = new Map<string, string>();
  const bytes: Record<string, number> = { total: 0 };
  session.on("Network.responseReceived", ({ requestId, type }) => types.set(requestId, type));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const type = types.get(requestId) ?? "Other";
    bytes[type] = (bytes[type] ?? 0) + encodedDataLength;
    bytes["total"] = (bytes["total"] ?? 0) + encodedDataLength;
  });
  await page.addInitScript({ content: OBSERVE_PAINTS });
  await page.goto(url, { waitUntil: "networkidle" });
  // A slow browser reports the paint later than the end of its requests.
  await page.waitForFunction("paintTimes.largestPaintMs > 0", undefined, { timeout: 10_000 }).catch(() => {});
  const { largestPaintMs, layoutShift } = await page.evaluate<{
    largestPaintMs: number;
    layoutShift: number;
  }>("paintTimes");
  await context.close();
  return {
    scriptBytes: bytes["Script"] ?? 0,
    styleBytes: bytes["Stylesheet"] ?? 0,
    totalBytes: bytes["total"] ?? 0,
    largestContentfulPaintMs: Math.round(largestPaintMs),
    cumulativeLayoutShift: Math.round(layoutShift * 1000) / 1000,
  };
}
