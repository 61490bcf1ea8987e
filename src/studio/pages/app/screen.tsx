import { Component, type ComponentType, type VNode } from "preact";
import { FailureNotice } from "../parts/notice.tsx";
import type { PageRoute } from "./route.ts";

interface ScreenProps {
  readonly route: PageRoute;
  readonly title: string;
  readonly component: ComponentType;
}

interface ScreenState {
  readonly failure: { readonly error: unknown; readonly route: PageRoute } | undefined;
}

/** The screen of a route. If its rendering fails, the rest of the page works, and the next route is tried again. */
export class Screen extends Component<ScreenProps, ScreenState> {
  override state: ScreenState = { failure: undefined };

  override componentDidCatch(error: unknown): void {
    reportError(error);
    this.setState({ failure: { error, route: this.props.route } });
  }

  override render(): VNode {
    const { route, title, component: Content } = this.props;
    const { failure } = this.state;
    if (failure?.route !== route) return <Content />;
    return (
      <>
        <h1 class="screen-reader-only">{title}</h1>
        <FailureNotice
          title="This screen cannot be shown"
          error={failure.error}
          onRetry={() => this.setState({ failure: undefined })}
        />
      </>
    );
  }
}
