import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import { type RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

interface VirtualRowOptions {
  readonly count: number;
  /** Height of every row in pixels. */
  readonly rowHeight: number;
  /** The scrolling element. */
  readonly scroller: RefObject<HTMLElement | null>;
  /** Rows that are rendered above and below the visible rows. */
  readonly overscan: number;
  /** Height in pixels of a sticky header, which covers the first visible rows. */
  readonly headerHeight?: number;
  /** Whether the list scrolls to new rows while the end of the list is visible. Default: `false`. */
  readonly isFollowing?: boolean;
}

/** The rows of a virtual list that are rendered, and operations on the list. */
export interface VirtualRows {
  readonly rows: readonly VirtualItem[];
  /** Height of all rows in pixels. */
  readonly totalHeight: number;
  /** Scrolls by the smallest distance that makes the row visible. */
  readonly scrollToRow: (index: number) => void;
  /** Number of rows that Page Up and Page Down scroll. */
  readonly rowsPerPage: number;
}

/** Returns the rows of a long list that need rendering, and renders again when the user scrolls. */
export function useVirtualRows(options: VirtualRowOptions): VirtualRows {
  const { count, rowHeight, scroller, overscan, headerHeight = 0, isFollowing = false } = options;
  const [, rerender] = useReducer<number, undefined>((renders) => renders + 1, 0);
  const settings = {
    count,
    overscan,
    estimateSize: () => rowHeight,
    getScrollElement: () => scroller.current,
    scrollPaddingStart: headerHeight,
    followOnAppend: isFollowing,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => rerender(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(settings));
  virtualizer.setOptions(settings);
  // The adapters of TanStack Virtual for other frameworks call these two methods.
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => virtualizer._willUpdate());
  // The virtualizer keeps the positions of rows with the earlier height.
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  return {
    rows: virtualizer.getVirtualItems(),
    totalHeight: virtualizer.getTotalSize(),
    scrollToRow: (index) => virtualizer.scrollToIndex(index, { align: "auto" }),
    rowsPerPage: Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1),
  };
}
