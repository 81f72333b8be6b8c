const { errorText, loadWords, unreached, wordsOf } = connectedVehicle;

const tabId = 'connected-vehicle-cars';
const say = wordsOf(tabId);

/** The panel is loaded when the tab is first shown: most editors never show it. */
function addTab(): void {
  const content = document.createElement('div');
  content.style.height = '100%';
  const loadPanel = async (): Promise<() => void> => {
    const [{ openCarsTab }] = await Promise.all([import('./panel/cars-tab'), loadWords()]);
    return openCarsTab(content);
  };
  let opened: Promise<() => void> | undefined;
  const show = async (): Promise<void> => {
    try {
      const whenShown = await (opened ??= loadPanel());
      whenShown();
    } catch {
      opened = undefined;
      content.textContent = errorText(unreached);
    }
  };

  RED.sidebar.addTab({
    id: tabId,
    label: say('tab.label'),
    name: say('tab.name'),
    iconClass: 'fa fa-car cars-icon',
    content,
    enableOnEdit: true,
    // The editor shows the content after this call.
    onchange: () => setTimeout(() => void show()),
  });
  RED.actions.add(`${tabId}:show`, () => RED.sidebar.show(tabId));
}

RED.plugins.registerPlugin(tabId, { type: tabId, onadd: addTab });
