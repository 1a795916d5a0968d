import { Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { readQr } from '../../ui/read-qr.ts';
import classes from './offline.module.css';

/** Between two looks at the picture, in milliseconds. */
const pause = 150;

/** Shows the picture of the camera until it has a QR code in it. */
export function Camera({ onRead }: { onRead: (text: string) => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState<string>();
  const read = useRef(onRead);
  useEffect(() => {
    read.current = onRead;
  });
  useEffect(() => {
    const stop = new AbortController();
    const picture = video.current;
    if (!picture) return undefined;
    watch(picture, stop.signal).then(
      (text) => text !== undefined && read.current(text),
      (error: unknown) => stop.signal.aborted || setProblem(problemOf(error)),
    );
    return () => stop.abort();
  }, []);
  if (problem) return <ErrorText>{problem}</ErrorText>;
  return (
    <div>
      <video ref={video} className={classes.video} muted playsInline aria-label="Picture of the camera" />
      <Text c="dimmed" size="xs" role="status">
        Hold the QR code so that it fills most of the picture.
      </Text>
    </div>
  );
}

/** The text of the first QR code that the camera sees; undefined when it was stopped before. */
async function watch(video: HTMLVideoElement, stop: AbortSignal): Promise<string | undefined> {
  // dense codes: the text of a request is several hundred characters
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: 'environment', width: { ideal: 1920 }, height: { ideal: 1080 } },
  });
  const turnOff = () => stream.getTracks().forEach((track) => track.stop());
  // at once: a detector that cannot be loaded never comes
  stop.addEventListener('abort', turnOff);
  try {
    video.srcObject = stream;
    if (!stop.aborted) await video.play();
    while (!stop.aborted) {
      const text = await readQr(video);
      if (text && !stop.aborted) return text;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    return undefined;
  } finally {
    turnOff();
  }
}

function problemOf(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'NotAllowedError')
    return 'The browser may not use the camera. Allow it, or choose a photo of the code.';
  if (name === 'NotFoundError') return 'No camera was found. Choose a photo of the code.';
  return 'The camera could not be used. Choose a photo of the code.';
}
