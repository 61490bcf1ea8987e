import type { ComponentChildren, VNode } from "preact";
import { RUN_FINDING_KINDS, type RunReport } from "../../../cards/index.ts";
import { FigureTable } from "../flow/figure-table.tsx";
import { AgentText } from "./agent-text.tsx";
import { formatCount, formatDuration, formatPercent, formatSampleId } from "./text-format.ts";

const MAX_LINKED_SAMPLES = 4;

interface RunOverviewProps {
  readonly statistics: RunReport;
  readonly onSelectSample: (id: string) => void;
}

/** The tokens and the times by role, and the findings of a run. */
export function RunOverview({ statistics, onSelectSample }: RunOverviewProps): VNode {
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
