import type { ComponentChildren, VNode } from "preact";
import { useMemo } from "preact/hooks";
import { RUN_FINDING_KINDS } from "../../../cards/index.ts";
import { FigureTable } from "../flow/figure-table.tsx";
import { GraphDiagram } from "../flow/graph-diagram.tsx";
import { AgentText } from "./agent-text.tsx";
import { buildRoleGraph } from "./model/card-drawings.ts";
import type { PageSample } from "./model/run-model.ts";
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
const MAX_BOTTLENECKS = 6;
const MAX_LINKED_SAMPLES = 4;

interface RunOverviewProps {
  readonly statistics: RunStatistics;
  readonly samples: readonly PageSample[];
  readonly selectedRole: string;
  readonly onSelectSample: (id: string) => void;
  readonly onSelectRole: (role: string) => void;
}

/** The role graph, the tokens, the times, the bottlenecks, the findings, and the slowest problems of a run. */
export function RunOverview(props: RunOverviewProps): VNode {
  const { statistics, samples, selectedRole, onSelectSample, onSelectRole } = props;
  const graph = useMemo(() => buildRoleGraph(statistics.roleEdges), [statistics]);
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
      <Section title="Cards between roles">
        <GraphDiagram
          {...graph}
          nodeWidth={132}
          nodeHeight={44}
          direction="right"
          selectedKey={selectedRole}
          onSelect={onSelectRole}
          className="graph"
          label="Graph of the roles. Select a role to filter the cards."
        />
      </Section>
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
      {statistics.bottlenecks.length > 0 && (
        <Section title="Bottlenecks">
          <FigureTable
            head={["role", "turn", "time", "share"]}
            rows={statistics.bottlenecks
              .slice(0, MAX_BOTTLENECKS)
              .map(({ kind, who, turn, ms, share }) => [
                <AgentText text={kind === "work" ? who : `in transit, ${who}`} />,
                turn === undefined ? "–" : String(turn),
                formatDuration(ms),
                formatPercent(share),
              ])}
          />
        </Section>
      )}
      {findings.length > 0 && (
        <Section title="Findings">
          <FigureTable
            head={["finding", "count", "problems"]}
            rows={findings.map(([kind, found]) => {
              const ids = [...new Set(found.map(({ sample_id = "" }) => sample_id))];
              const { isViolation, description } = RUN_FINDING_KINDS[kind];
              return [
                <span class={isViolation ? "broken" : ""}>{description}</span>,
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
            sampleLink(sample.id),
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
