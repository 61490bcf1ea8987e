import type { RefObject, VNode } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { toSingleLine } from "../../../cards/index.ts";
import { useVirtualRows } from "../flow/use-virtual-rows.ts";
import { AgentText } from "./agent-text.tsx";
import { getSampleName, type PageSample } from "./model/run-model.ts";
import { type SampleSummary, summarizeSample } from "./model/sample-summary.ts";
import { formatDuration, formatSampleId, formatTokenTotal } from "./text-format.ts";

const ROW_HEIGHT_PX = 56;
const OVERSCAN_ROWS = 8;

const OUTCOME_MARKS: Readonly<Record<SampleSummary["outcome"], readonly [mark: string, label: string]>> = {
  correct: ["✓", "correct"],
  wrong: ["✗", "wrong"],
  skipped: ["–", "skipped because of an error"],
  unscored: ["…", "not scored"],
  waiting: ["·", "not started"],
};

interface SampleListProps {
  readonly samples: readonly PageSample[];
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly list: RefObject<HTMLDivElement | null>;
}

/** Selectable list of the problems that match the filter. Renders only the visible rows. */
export function SampleList({ samples, selectedId, onSelect, list }: SampleListProps): VNode {
  const { rows, totalHeight, scrollToRow, rowsPerPage } = useVirtualRows({
    count: samples.length,
    rowHeight: ROW_HEIGHT_PX,
    scroller: list,
    overscan: OVERSCAN_ROWS,
  });
  const selectedRow = samples.findIndex(({ id }) => id === selectedId);
  useLayoutEffect(() => {
    if (selectedRow >= 0) scrollToRow(selectedRow);
    // Only a new selection scrolls, because the user can scroll away from the selected problem.
  }, [selectedId]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      PageDown: rowsPerPage,
      PageUp: -rowsPerPage,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.POSITIVE_INFINITY,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = findNextSample(samples, selectedId, step);
    if (next) onSelect(getSampleName(next));
  };
  const isSelectedRendered = rows.some(({ index }) => index === selectedRow);
  return (
    <div
      ref={list}
      id="samples"
      role="listbox"
      tabIndex={0}
      aria-label="Problems"
      aria-activedescendant={isSelectedRendered ? `sample-${selectedRow}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div class="virtual-rows" role="presentation" style={{ height: `${totalHeight}px` }}>
        {rows.map(({ index, start }) => {
          const sample = samples[index];
          return (
            sample && (
              <SampleRow
                key={getSampleName(sample)}
                sample={sample}
                index={index}
                count={samples.length}
                top={start}
                isSelected={index === selectedRow}
                onSelect={onSelect}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/**
 * Returns the problem that is `steps` rows below the selected problem, limited to the ends of the list. Without a
 * selection, the search starts above the first problem.
 */
export function findNextSample(
  samples: readonly PageSample[],
  selectedId: string | undefined,
  steps: number,
): PageSample | undefined {
  const selected = samples.findIndex(({ id }) => id === selectedId);
  const target = selected < 0 && steps > 0 && Number.isFinite(steps) ? 0 : selected + steps;
  return samples[Math.min(samples.length - 1, Math.max(0, target))];
}

interface SampleRowProps {
  readonly sample: PageSample;
  readonly index: number;
  readonly count: number;
  readonly top: number;
  readonly isSelected: boolean;
  readonly onSelect: (id: string) => void;
}

function SampleRow({ sample, index, count, top, isSelected, onSelect }: SampleRowProps): VNode {
  const summary = summarizeSample(sample);
  const [mark, label] = OUTCOME_MARKS[summary.outcome];
  const notes = [
    ...(summary.errorCount > 0 ? ["error"] : []),
    ...(summary.isPartial ? ["partial"] : []),
    ...(summary.tokens.isReported && summary.tokens.total > 0
      ? [`${formatTokenTotal(summary.tokens)} tok`]
      : []),
    ...(summary.durationMs > 0 ? [formatDuration(summary.durationMs)] : []),
  ];
  return (
    <div
      class={`sample ${summary.outcome}`}
      style={{ top: `${top}px`, height: `${ROW_HEIGHT_PX}px` }}
      role="option"
      id={`sample-${index}`}
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={count}
      onClick={() => onSelect(getSampleName(sample))}
    >
      <span class="mark" role="img" aria-label={label} title={label}>
        {mark}
      </span>
      <AgentText class="id" text={formatSampleId(getSampleName(sample))} />
      <span class="notes">{notes.join(" · ")}</span>
      <AgentText class="question" text={toSingleLine(summary.question.slice(0, 160))} />
    </div>
  );
}
