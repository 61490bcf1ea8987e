/** Returns a `fetch` that breaks the first event stream after its third event. */
export function cutFirstStream(): typeof fetch {
  let isCut = false;
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (isCut || !isStream || !response.body) return response;
    isCut = true;
    return new Response(response.body.pipeThrough(failAfterEvents(3)), response);
  };
}

function failAfterEvents(count: number): TransformStream<Uint8Array, Uint8Array> {
  let events = 0;
  const decoder = new TextDecoder();
  return new TransformStream({
    transform(bytes, controller) {
      controller.enqueue(bytes);
      events += decoder.decode(bytes).split(/\r?\n\r?\n/).length - 1;
      if (events >= count) controller.error(new TypeError("The test cuts the stream."));
    },
  });
}
