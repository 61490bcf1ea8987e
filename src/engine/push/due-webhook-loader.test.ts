import { expect, it } from "vitest";
import { FakeClock, flushEventLoopForTest } from "../engine.fixture.ts";
import { DueWebhookLoader } from "./due-webhook-loader.ts";

/** Records the searches, which end when the test ends them. */
function createLoader(): { loader: DueWebhookLoader; searches: string[]; endSearch: () => Promise<void> } {
  const searches: string[] = [];
  let end: () => void = () => {};
  const loader = new DueWebhookLoader({
    source: {
      leases: undefined,
      claim: () => expect.unreachable(),
      claimDue: (_after, _limit, search) => {
        searches.push(search);
        return new Promise((resolve) => {
          end = () => resolve([]);
        });
      },
    },
    clock: new FakeClock(),
    saveProgress: () => Promise.resolve(),
    isFull: () => false,
    onDue: () => true,
    onRefused: () => {},
    onError: (error) => expect.unreachable(String(error)),
  });
  const endSearch = async (): Promise<void> => {
    await flushEventLoopForTest();
    end();
    await flushEventLoopForTest();
  };
  return { loader, searches, endSearch };
}

it("a load of all webhooks begins after a search for left webhooks, which cannot have found them", async () => {
  const { loader, searches, endSearch } = createLoader();
  const poll = loader.load("left");
  let isLoaded = false;
  const load = loader.load("all").then(() => (isLoaded = true));
  await endSearch();
  await poll;
  expect(isLoaded).toBe(false);
  await endSearch();
  await load;
  expect(searches).toEqual(["left", "all"]);
});

it("requests during a load share the next load", async () => {
  const { loader, searches, endSearch } = createLoader();
  const loads = [loader.load("all"), loader.load("all"), loader.load("all"), loader.load("left")];
  await endSearch();
  await endSearch();
  await Promise.all(loads);
  expect(searches).toEqual(["all", "all"]);
});
