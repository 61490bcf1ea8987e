/** Delay of a page that draws no frames, for example in a hidden tab. */
const HIDDEN_DELAY_MS = 250;

/**
 * Returns a function that calls `work` once before the next frame of the browser, however often it is called. Streams
 * with many events per frame then render once per frame.
 */
export function createFrameScheduler(work: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    const run = (): void => {
      if (!isScheduled) return;
      isScheduled = false;
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      work();
    };
    const frame = requestAnimationFrame(run);
    const timer = setTimeout(run, HIDDEN_DELAY_MS);
  };
}
