import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";

const PLAY_INTERVAL_MS = 150;

interface ReplaySliderProps {
  readonly lastSeq: number;
  readonly shownSeq: number | undefined;
  readonly onShowSeq: (seq: number | undefined) => void;
}

/** Chooses the event after which the task is shown, and plays the events one after another. */
export function ReplaySlider({ lastSeq, shownSeq, onShowSeq }: ReplaySliderProps): VNode {
  const [isPlaying, setIsPlaying] = useState(false);
  const seq = shownSeq ?? lastSeq;
  const showSeq = (next: number): void => {
    const kept = Math.max(1, Math.min(lastSeq, next));
    onShowSeq(kept >= lastSeq ? undefined : kept);
  };
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (seq >= lastSeq) {
      setIsPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => showSeq(seq + 1), PLAY_INTERVAL_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, seq, lastSeq]);
  const play = (): void => {
    if (!isPlaying && seq >= lastSeq) showSeq(1);
    setIsPlaying(!isPlaying);
  };
  useHotkeys([
    { keys: "ArrowLeft", label: "Task one event earlier", run: () => showSeq(seq - 1) },
    { keys: "ArrowRight", label: "Task one event later", run: () => showSeq(seq + 1) },
    { keys: "p", label: "Play or pause the events", run: play },
  ]);
  return (
    <div class="replay" role="group" aria-label="Replay">
      <button type="button" onClick={play}>
        {isPlaying ? "Pause" : "Play"}
      </button>
      <label>
        <span class="screen-reader-only">Event after which the task is shown</span>
        <input
          type="range"
          min={1}
          max={lastSeq}
          value={seq}
          onInput={({ currentTarget }) => showSeq(Number(currentTarget.value))}
        />
      </label>
      <output>
        event {seq} of {lastSeq}
      </output>
      {shownSeq !== undefined && (
        <button type="button" onClick={() => onShowSeq(undefined)}>
          Latest
        </button>
      )}
    </div>
  );
}
