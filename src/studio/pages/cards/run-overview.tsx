import type { ComponentChildren, VNode } from "preact";
import { RUN_FINDING_KINDS } from "../../../cards/index.ts";
import { FigureTable } from "../flow/figure-table.tsx";
import { AgentText } from "./agent-text.tsx";
import { getSampleName, type PageSample } from "./model/run-model.ts";
import type { RunStatistics } from "./model/run-statistics.ts";
import { summarizeSample } from "./model/sample-summary.ts";
import {
  formatCount,
  formatDuration,
  formatPercent,
  formatSampleId,
  formatTokenTotal,
} from "./text-format.ts";

const MAX_SLOWEST_SAMPLES = 8;
const MAX_LINKED_SAMPLES = 4;

interface RunOverviewProps {
  readonly statistics: RunStatistics;
  readonly samples: readonly PageSample[];
  readonly onSelectSample: (id: string) => void;
}

/** The tokens and the times by role, the findings, and the slowest problems of a run. */
export function RunOverview(props: RunOverviewProps): VNode {
  const { statistics, samples, onSelectSample } = props;
  const slowest = samples
    .filter(({ cards }) => cards.length > 0)
    .map((sample) => ({ sample, summary: summarizeSample(sample) }))
    .toSorted((a, b) => b.summary.durationMs - a.summary.durationMs)
    .slice(0, MAX_SLOWEST_SAMPLES);
  const findings = [...Map.groupBy(statistics.findings, ({ kind }) => kind)];
  const sampleLink = (id: string): VNode => (
    <button type="button" class="link" onClick={() => onSelectSample(id)}>
      <AgentText text={formatSampleId(id)} />
    </button>
  );
  return (
    <div class="run-overview">
      <Section title="Tokens and time by role">
        <FigureTable
          head={["role", "turn", "cards", "input", "cached", "output", "time", "share"]}
          rows={statistics.spending.map((one) => [
            <AgentText text={one.role} />,
            one.turn === undefined ? "–" : String(one.turn),
            formatCount(one.cards),
            formatCount(one.input),
            formatCount(one.cached),
            formatCount(one.output),
            formatDuration(one.ms),
            formatPercent(one.share),
          ])}
        />
      </Section>
      {findings.length > 0 && (
        <Section title="Findings">
          <FigureTable
            head={["finding", "count", "problems"]}
            rows={findings.map(([kind, found]) => {
              const ids = [...new Set(found.map(({ sample_id = "" }) => sample_id))];
              return [
                RUN_FINDING_KINDS[kind],
                formatCount(found.length),
                <span>{ids.slice(0, MAX_LINKED_SAMPLES).map((id) => [sampleLink(id), " "])}</span>,
              ];
            })}
          />
        </Section>
      )}
      <Section title="Slowest problems">
        <FigureTable
          head={["problem", "time", "tokens", "cards", "answer", "gold"]}
          rows={slowest.map(({ sample, summary }) => [
            sampleLink(getSampleName(sample)),
            formatDuration(summary.durationMs),
            formatTokenTotal(summary.tokens),
            formatCount(summary.cardCount),
            <AgentText text={sample.score?.predicted ?? "–"} />,
            <AgentText text={sample.score?.gold ?? "–"} />,
          ])}
        />
      </Section>
    </div>
  );
}

function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
