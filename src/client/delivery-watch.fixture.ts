/** Reports which bytes of event streams the client has read. */
export interface DeliveryWatch {
  /** Calls the global `fetch`, and watches the event streams of its responses. */
  readonly fetch: typeof fetch;
  /** Resolves when the client has read a text. */
  waitForText(text: string): Promise<void>;
}

/**
 * Creates a watch, so that a test server breaks a connection only after the client has read its events. Otherwise, the
 * events can be lost: `fetch` of Node.js discards unread bytes when a connection breaks, and `fetch` of Bun also discards
 * bytes that arrived just before.
 */
export function createDeliveryWatch(): DeliveryWatch {
  let readText = "";
  let awaited: { readonly text: string; readonly resolve: () => void } | undefined;
  const check = (): void => {
    if (!awaited || !readText.endsWith(awaited.text)) return;
    awaited.resolve();
    awaited = undefined;
  };
  return {
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (!response.body || !response.headers.get("content-type")?.startsWith("text/event-stream"))
        return response;
      readText = "";
      const decoder = new TextDecoder();
      const { status, headers } = response;
      const onRead = (bytes: Uint8Array): void => {
        readText += decoder.decode(bytes, { stream: true });
        check();
      };
      return new Response(watchReads(response.body, onRead), { status, headers });
    },
    waitForText: (text) =>
      new Promise((resolve) => {
        awaited = { text, resolve };
        check();
      }),
  };
}

/** Passes bytes on only when the consumer waits for them, and calls `onRead` with them. */
function watchReads(
  body: ReadableStream<Uint8Array>,
  onRead: (bytes: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        controller.enqueue(value);
        onRead(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Without a queue, an error cannot discard bytes that the consumer has not read.
    { highWaterMark: 0 },
  );
}
