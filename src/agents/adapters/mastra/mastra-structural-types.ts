/** The output of a Mastra stream that the adapter reads. */
export interface MastraStream {
  /** The chunks, whose type depends on the agent's structured output. The adapter ignores structured output. */
  readonly fullStream: AsyncIterable<{ readonly type: string }>;
}

/** The members of a Mastra `Agent` that the adapter uses. */
export interface MastraAgent {
  readonly name: string;
  getDescription(): string;
  hasOwnMemory(): boolean;
  stream(messages: never, options: never): Promise<MastraStream>;
  approveToolCall(options: never): Promise<MastraStream>;
  declineToolCall(options: never): Promise<MastraStream>;
  resumeStream(resumeData: never, options: never): Promise<MastraStream>;
}
