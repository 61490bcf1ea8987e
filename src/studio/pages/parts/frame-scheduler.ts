/** Delay of a page that draws no frames, for example in a hidden tab. */
const HIDDEN_DELAY_MS = 250;
/** Pause after a slow frame, as a multiple of the frame's duration. The page stays responsive in the pause. */
const PAUSE_PER_WORK = 3;

/**
 * Returns a function that calls `work` once before the next frame of the browser, however often it is called. Streams
 * with many events per frame then render once per frame. If rendering is slow, it takes at most a quarter of the time.
 */
export function createFrameScheduler(work: () => void): () => void {
  let isScheduled = false;
  let nextStartMs = 0;
  const runBeforeFrame = (): void => {
    const run = (): void => {
      if (!isScheduled) return;
      isScheduled = false;
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      const startMs = performance.now();
      work();
      // Components render after `work`. A timer starts after the browser has drawn the frame.
      setTimeout(() => {
        const endMs = performance.now();
        nextStartMs = endMs + PAUSE_PER_WORK * (endMs - startMs);
      });
    };
    const frame = requestAnimationFrame(run);
    const timer = setTimeout(run, HIDDEN_DELAY_MS);
  };
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    const waitMs = nextStartMs - performance.now();
    if (waitMs > 0) setTimeout(runBeforeFrame, waitMs);
    else runBeforeFrame();
  };
}
