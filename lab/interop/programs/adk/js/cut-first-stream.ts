/** Returns a `fetch` that breaks the first event stream after `eventCount` events. */
export function cutFirstStream(eventCount: number): typeof fetch {
  let isCut = false;
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (isCut || !isStream || !response.body) return response;
    isCut = true;
    return new Response(ReadableStream.from(readEventsAndFail(response.body, eventCount)), response);
  };
}

async function* readEventsAndFail(
  body: ReadableStream<Uint8Array>,
  eventCount: number,
): AsyncGenerator<Uint8Array, void> {
  let events = 0;
  for await (const bytes of body.pipeThrough(splitAtEventEnds())) {
    yield bytes;
    events += 1;
    if (events === eventCount) throw new TypeError("The test cuts the stream.");
  }
}

/** Splits the bytes of an event stream, so that each chunk contains one event. */
function splitAtEventEnds(): TransformStream<Uint8Array, Uint8Array> {
  let rest = "";
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  return new TransformStream({
    transform(bytes, controller) {
      const [...events] = (rest + decoder.decode(bytes, { stream: true })).split(/(?<=\r?\n\r?\n)/);
      rest = events.pop() ?? "";
      if (/\n\r?\n$/.test(rest)) {
        events.push(rest);
        rest = "";
      }
      for (const event of events) controller.enqueue(encoder.encode(event));
    },
  });
}
