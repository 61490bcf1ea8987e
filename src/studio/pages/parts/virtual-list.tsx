import type { RefObject, VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";
import { useVirtualRows } from "../flow/use-virtual-rows.ts";

interface VirtualListProps {
  readonly count: number;
  /** Accessible name of the list. */
  readonly label: string;
  /** Height of every row in pixels. */
  readonly rowHeight: number;
  readonly renderRow: (index: number) => VNode;
  readonly getRowKey: (index: number) => string;
  readonly selectedIndex: number | undefined;
  readonly onSelect: (index: number) => void;
  /** Called for the Enter key and for a click on the selected row. */
  readonly onOpen?: (index: number) => void;
  /** Called when the last rows become visible. */
  readonly onEndReached?: () => void;
  /** Whether the list scrolls to new rows while its end is visible. Default: false. */
  readonly isFollowing?: boolean;
  /** URL of a row, which the user can open in a new tab. Default: the rows are no links. */
  readonly getRowHref?: (index: number) => string;
  /** ID of the list. Default: none. */
  readonly id?: string;
  /** Receives the element of the list, for example for its focus. */
  readonly list?: RefObject<HTMLDivElement | null>;
  /** Attributes of a row, for example `data-task-id`. */
  readonly getRowAttributes?: (index: number) => Readonly<Record<string, string>>;
}

const OVERSCAN_ROWS = 8;

/** A list that renders only its visible rows. The keys j and k select the next and the previous row. */
export function VirtualList(props: VirtualListProps): VNode {
  const { count, label, rowHeight, renderRow, getRowKey, selectedIndex, onSelect, onOpen } = props;
  const { onEndReached, isFollowing = false, getRowAttributes, getRowHref } = props;
  const Row = (getRowHref ? "a" : "div") as "div";
  const ownScroller = useRef<HTMLDivElement>(null);
  const { list: scroller = ownScroller } = props;
  const id = useId();
  const { rows, totalHeight, scrollToRow, rowsPerPage } = useVirtualRows({
    count,
    rowHeight,
    scroller,
    overscan: OVERSCAN_ROWS,
    isFollowing,
  });
  const lastRenderedIndex = rows.at(-1)?.index ?? -1;
  useEffect(() => {
    if (lastRenderedIndex >= count - OVERSCAN_ROWS) onEndReached?.();
  }, [lastRenderedIndex, count, onEndReached]);

  const selectedKey = selectedIndex === undefined ? undefined : getRowKey(selectedIndex);
  useLayoutEffect(() => {
    if (selectedIndex !== undefined) scrollToRow(selectedIndex);
    // Only a new selection scrolls, because the user can scroll away from the selected row.
  }, [selectedKey]);

  const select = (index: number): void => {
    const next = Math.max(0, Math.min(count - 1, index));
    if (count === 0) return;
    onSelect(next);
  };
  const open = (): void => {
    if (selectedIndex !== undefined) onOpen?.(selectedIndex);
  };
  /** Also moves the focus to the list, so that Enter opens the row. */
  const selectAndFocus = (index: number): void => {
    select(index);
    scroller.current?.focus({ preventScroll: true });
  };
  useHotkeys([
    { keys: "j", label: `Next row of ${label}`, run: () => selectAndFocus((selectedIndex ?? -1) + 1) },
    { keys: "k", label: `Previous row of ${label}`, run: () => selectAndFocus((selectedIndex ?? 1) - 1) },
  ]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, (() => void) | undefined>> = {
      ArrowDown: () => select((selectedIndex ?? -1) + 1),
      ArrowUp: () => select((selectedIndex ?? 1) - 1),
      PageDown: () => select((selectedIndex ?? 0) + rowsPerPage),
      PageUp: () => select((selectedIndex ?? 0) - rowsPerPage),
      Home: () => select(0),
      End: () => select(count - 1),
      Enter: open,
    };
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  };
  const isSelectedRendered = rows.some(({ index }) => index === selectedIndex);
  return (
    <div
      ref={scroller}
      id={props.id}
      class="virtual-list"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={isSelectedRendered ? `${id}-${selectedIndex}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" class="virtual-rows" style={{ height: `${totalHeight}px` }}>
        {rows.map(({ index, start }) => (
          // The keyboard handler of the list covers the rows.
          <Row
            key={getRowKey(index)}
            {...(getRowHref && { href: getRowHref(index), tabIndex: -1 })}
            id={`${id}-${index}`}
            role="option"
            class="virtual-row"
            aria-selected={index === selectedIndex}
            aria-setsize={count}
            aria-posinset={index + 1}
            style={{ height: `${rowHeight}px`, transform: `translateY(${start}px)` }}
            onClick={(event: MouseEvent) => {
              if (getRowHref && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
              event.preventDefault();
              onSelect(index);
              onOpen?.(index);
            }}
            {...getRowAttributes?.(index)}
          >
            {renderRow(index)}
          </Row>
        ))}
      </div>
    </div>
  );
}
