/** A destination of traffic lines, such as a file. */
export interface TrafficSink {
  /**
   * Whether `write` stores the lines before it returns, and throws if it cannot. The writer then writes each line at
   * once. Default: false.
   */
  readonly isSynchronous?: boolean;
  /**
   * Writes complete lines, each with its newline. `header` is the writer line, which each file contains before the
   * first other line of the writer. A rejection means that the lines are lost. The writer calls `write` again after
   * the previous call has settled.
   */
  write(lines: string, header: string): void | Promise<void>;
  /** Stores all written lines, and releases the sink. */
  close(): void | Promise<void>;
}

/** A sink that keeps lines in memory. `text()` returns all lines. */
export interface MemoryTrafficSink extends TrafficSink {
  text(): string;
}

/** Creates a sink that keeps all lines in memory, for tests and for short records. */
export function createMemoryTrafficSink(): MemoryTrafficSink {
  const headers = new Set<string>();
  let text = "";
  return {
    write(lines, header) {
      if (!headers.has(header)) text += header;
      headers.add(header);
      text += lines;
    },
    close: () => {},
    text: () => text,
  };
}
