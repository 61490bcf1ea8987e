import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { GraphDiagram } from "../flow/graph-diagram.tsx";
import { SequenceDiagram } from "../flow/sequence-diagram.tsx";
import { TimelineDiagram } from "../flow/timeline-diagram.tsx";
import { CardTable } from "./card-table.tsx";
import {
  buildCardGraph,
  buildCardSequence,
  buildCardTimeline,
  formatCardKey,
} from "./model/card-drawings.ts";
import { type CardFilter, matchesCard } from "./model/card-filter.ts";
import type { PageCard, PageSample, RunModel } from "./model/run-model.ts";
import { analyzeCriticalPathAndFindings } from "./model/sample-critical-path-and-findings.ts";
import type { ViewName } from "./model/view-state.ts";
import { SampleHeader } from "./sample-header.tsx";
import { ViewTabs } from "../flow/view-tabs.tsx";

const VIEW_TABS: readonly (readonly [ViewName, string])[] = [
  ["sequence", "Sequence"],
  ["timeline", "Timeline"],
  ["graph", "Graph"],
  ["table", "Table"],
];

interface SampleViewProps {
  readonly sample: PageSample;
  readonly model: RunModel;
  readonly view: ViewName;
  readonly filter: CardFilter;
  readonly selectedCard: PageCard | undefined;
  readonly onOpenView: (view: ViewName) => void;
  readonly onSelectCard: (pageCard: PageCard) => void;
}

/** A problem of the run: its header, and its cards as a sequence, a timeline, a graph, or a table. */
export function SampleView(props: SampleViewProps): VNode {
  const { sample, model, view, onOpenView } = props;
  const analysis = analyzeCriticalPathAndFindings(sample, model);
  return (
    <>
      <SampleHeader sample={sample} analysis={analysis} />
      <ViewTabs tabs={VIEW_TABS} selected={view} onSelect={onOpenView} />
      <div id="picture" role="tabpanel" aria-labelledby={`tab-${view}`}>
        {sample.cards.length === 0 ? (
          <p class="hint">This problem has no cards yet.</p>
        ) : (
          <SampleDrawing {...props} />
        )}
      </div>
    </>
  );
}

function SampleDrawing(props: SampleViewProps): VNode {
  const { sample, model, view, filter, selectedCard, onSelectCard } = props;
  const { cards } = sample;
  const { criticalPath, criticalCards } = analyzeCriticalPathAndFindings(sample, model);
  // The cards of a sample change in place. Its version increases with each change.
  const drawing = useMemo(() => {
    const critical = new Set(cards.filter(({ card }) => criticalCards.has(card)));
    if (view === "sequence") return { view, ...buildCardSequence(cards, critical) };
    if (view === "timeline") return { view, ...buildCardTimeline(cards, criticalPath) };
    return view === "graph" ? { view, ...buildCardGraph(cards, critical) } : { view };
  }, [sample, sample.version, criticalPath, view]);
  const selection = {
    selectedKey: selectedCard && formatCardKey(cards.indexOf(selectedCard)),
    onSelect: (key: string) => {
      const pageCard = cards[Number(key) - 1];
      if (pageCard) onSelectCard(pageCard);
    },
  };
  if (drawing.view === "sequence")
    return <SequenceDiagram {...drawing} {...selection} label="Sequence diagram; each card is a button" />;
  if (drawing.view === "timeline")
    return (
      <TimelineDiagram
        {...drawing}
        {...selection}
        label="Timeline: a lane for each role, a bar for the work on each card"
      />
    );
  if (drawing.view === "graph")
    return (
      <GraphDiagram
        {...drawing}
        {...selection}
        nodeWidth={220}
        nodeHeight={66}
        direction="down"
        className="dag"
        label="Graph: each card with its causes"
      />
    );
  return (
    <CardTable
      rows={cards
        .map((pageCard, index) => ({ sample, pageCard, cardNumber: index + 1 }))
        .filter(({ pageCard }) => matchesCard(pageCard, sample, { ...filter, text: "" }))}
      selectedCard={selectedCard}
      onSelect={({ pageCard }) => onSelectCard(pageCard)}
    />
  );
}
