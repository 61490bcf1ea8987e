import { type ComponentChildren, Component } from "preact";
import { Notice } from "./notice.tsx";

interface PartBoundaryProps {
  readonly children: ComponentChildren;
}

/** Content of a stranger. If its rendering fails, the rest of the screen works. */
export class PartBoundary extends Component<PartBoundaryProps, { readonly hasFailed: boolean }> {
  override state: { readonly hasFailed: boolean } = { hasFailed: false };

  override componentDidCatch(error: unknown): void {
    reportError(error);
    this.setState({ hasFailed: true });
  }

  override render(): ComponentChildren {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Notice tone="warn" title="This content cannot be shown">
        The screen of the task shows its JSON.
      </Notice>
    );
  }
}
