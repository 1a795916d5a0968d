import { Component, type ReactNode } from 'react';
import { ErrorScreen } from './ErrorScreen.tsx';

/** Keeps the failure of one screen from taking the shell with it. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean; error: unknown }> {
  override state = { failed: false, error: undefined as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { failed: true, error };
  }

  override render() {
    return this.state.failed ? <ErrorScreen error={this.state.error} /> : this.props.children;
  }
}
