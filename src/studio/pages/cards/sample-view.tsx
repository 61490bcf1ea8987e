import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { SequenceDiagram } from "../flow/sequence-diagram.tsx";
import { CardTable } from "./card-table.tsx";
import { buildCardSequence, formatCardKey } from "./model/card-drawings.ts";
import { type CardFilter, matchesCard } from "./model/card-filter.ts";
import type { PageCard, PageSample, RunModel } from "./model/run-model.ts";
import { getSampleAnalysis } from "./model/sample-analysis.ts";
import type { ViewName } from "./model/view-state.ts";
import { SampleHeader } from "./sample-header.tsx";
import { ViewTabs } from "../flow/view-tabs.tsx";

const VIEW_TABS: readonly (readonly [ViewName, string])[] = [
  ["sequence", "Sequence"],
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

/** A problem of the run: its header, and its cards as a sequence or a table. */
export function SampleView(props: SampleViewProps): VNode {
  const { sample, model, view, onOpenView } = props;
  const analysis = getSampleAnalysis(sample, model);
  return (
    <>
      <SampleHeader sample={sample} analysis={analysis} />
      <ViewTabs tabs={VIEW_TABS} selected={view} onSelect={onOpenView} />
      <div id="picture" role="tabpanel" aria-labelledby={`tab-${view}`}>
        {sample.timedCards.length === 0 ? (
          <p class="hint">This problem has no cards yet.</p>
        ) : (
          <SampleDrawing {...props} />
        )}
      </div>
    </>
  );
}

function SampleDrawing(props: SampleViewProps): VNode {
  const { sample, view, filter, selectedCard, onSelectCard } = props;
  const { timedCards: cards } = sample;
  // The cards of a sample change in place. Its version increases with each change.
  const drawing = useMemo(
    () => (view === "sequence" ? buildCardSequence(cards) : undefined),
    [sample, sample.version, view],
  );
  const selection = {
    selectedKey: selectedCard && formatCardKey(cards.indexOf(selectedCard)),
    onSelect: (key: string) => {
      const pageCard = cards[Number(key) - 1];
      if (pageCard) onSelectCard(pageCard);
    },
  };
  if (drawing)
    return <SequenceDiagram {...drawing} {...selection} label="Sequence diagram; each card is a button" />;
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
