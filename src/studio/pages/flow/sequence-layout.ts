/** A message of a sequence diagram, which is one row. */
export interface SequenceMessage {
  /** Unique key of the message within the diagram. */
  readonly key: string;
  readonly from: string;
  readonly to: string;
  /** Text above the arrow. */
  readonly label: string;
  /** Text below the arrow, such as the type, the tokens, and the duration. */
  readonly notes: string;
  /** CSS class that selects the color of the arrow. */
  readonly colorClass: string;
  /** Time in milliseconds since the previous message, or `undefined` for the first message. */
  readonly delayMs: number | undefined;
  /** Description for screen readers. */
  readonly description: string;
  /** Whether the arrow is dashed, as for replies. */
  readonly isDashed?: boolean;
  /** Whether the message is on the critical path. */
  readonly isCritical?: boolean;
  /** Whether the message never arrived, or broke off. */
  readonly isBroken?: boolean;
}

/** Period in which a participant works on a request, in rows of the diagram. */
export interface SequenceActivation {
  readonly participant: string;
  readonly fromRow: number;
  readonly toRow: number;
}

/** An activation with its column among the overlapping activations of the participant. */
export interface NestedActivation extends SequenceActivation {
  readonly depth: number;
}

/** Positions of the columns of a sequence diagram in pixels. */
interface SequenceColumns {
  readonly width: number;
  /** Horizontal center of each participant's lifeline. */
  readonly centers: ReadonlyMap<string, number>;
  /** Width of the boxes with the participants' names. */
  readonly boxWidth: number;
}

/** Height of a diagram row in pixels. */
export const SEQUENCE_ROW_HEIGHT = 52;
/** Height in pixels of the participants' names, which stay visible when the user scrolls. */
export const SEQUENCE_HEADER_HEIGHT = 52;
const MAX_COLUMN_GAP = 360;
/** Width in pixels below which the columns move together, as on phones. */
const NARROW_WIDTH = 600;
const MAX_BOX_WIDTH = 168;

/** Computes the columns of a sequence diagram. The diagram can be wider than `availableWidth`. */
export function computeSequenceColumns(
  participants: readonly string[],
  availableWidth: number,
): SequenceColumns {
  const [sideMargin, minGap] = availableWidth < NARROW_WIDTH ? [60, 134] : [92, 190];
  const gaps = Math.max(0, participants.length - 1);
  const gap = Math.min(
    MAX_COLUMN_GAP,
    Math.max(minGap, (availableWidth - 2 * sideMargin) / Math.max(1, gaps)),
  );
  return {
    width: 2 * sideMargin + gaps * gap,
    centers: new Map(participants.map((name, index) => [name, sideMargin + index * gap])),
    // The outer boxes keep a distance of two pixels from the edges.
    boxWidth: Math.min(MAX_BOX_WIDTH, gap - 14, 2 * sideMargin - 4),
  };
}

/** Assigns overlapping activations of a participant to different depths. The result is sorted by `fromRow`. */
export function nestActivations(activations: readonly SequenceActivation[]): NestedActivation[] {
  const endsByParticipant = new Map<string, number[]>();
  return activations
    .toSorted((a, b) => a.fromRow - b.fromRow || b.toRow - a.toRow)
    .map((activation) => {
      const ends = endsByParticipant.get(activation.participant) ?? [];
      endsByParticipant.set(activation.participant, ends);
      const free = ends.findIndex((end) => end <= activation.fromRow);
      const depth = free < 0 ? ends.length : free;
      ends[depth] = activation.toRow;
      return { ...activation, depth };
    });
}
